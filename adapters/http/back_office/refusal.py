"""A page that is a refusal."""

from adapters.http.back_office.languages import N_, Language


class PageRefused(Exception):
    """The person is shown `heading` and `sentence` instead of the page; both are our own words.

    `retry_after` is in seconds, 0 when waiting helps nobody. `form_fault` is the code under which the audit log is told
    when somebody who is signed in sent a form like that.
    """

    def __init__(self, status: int, heading: str, sentence: str, retry_after: int = 0, *, form_fault: str = "") -> None:
        super().__init__(heading)
        self.status, self.heading, self.sentence = status, heading, sentence
        self.retry_after, self.form_fault = retry_after, form_fault

    def said(self, language: Language) -> str:
        """The sentence in the person's language."""
        return language.gettext(self.sentence)

    @classmethod
    def absent(cls) -> "PageRefused":
        """There is nothing of this id for this person."""
        return cls(404, N_("There is nothing here"), N_("It does not exist, or it is not yours to see."))

    @classmethod
    def foreign_form(cls) -> "PageRefused":
        """The form was not sent from a page of this session."""
        return cls(
            403,
            N_("This form was not accepted"),
            N_(
                "It was not sent from a page of your current session. "
                "Nothing was changed. Open the page again and repeat."
            ),
            form_fault="foreign_form",
        )

    @classmethod
    def odd_form(cls) -> "PageRefused":
        """The form does not have the shape that our pages send."""
        return cls(
            400,
            N_("This form could not be read"),
            N_("Nothing was changed. Open the page again and repeat."),
            form_fault="odd_form",
        )

    @classmethod
    def outage(cls) -> "PageRefused":
        """Our own database does not answer; what was being written may have been written."""
        return cls(
            503,
            N_("This page cannot be shown just now"),
            N_(
                "The store does not answer. "
                "If you were deciding, your word may have counted: open the page again and see."
            ),
            5,
        )

    @classmethod
    def no_entry(cls, sentence: str) -> "PageRefused":
        """Signing in did not succeed."""
        return cls(403, N_("You cannot sign in here"), sentence)

    @classmethod
    def sign_in_failed(cls) -> "PageRefused":
        """The sign-in was interrupted or does not belong to this browser."""
        return cls(
            400, N_("The sign-in was not completed"), N_("It was interrupted or took too long. Please start again.")
        )

    @classmethod
    def sign_in_unfit(cls) -> "PageRefused":
        """The issuer has answered, and its answer names nobody here; trying again is of little use."""
        return cls(
            400,
            N_("The sign-in was not completed"),
            N_(
                "Your organisation's sign-in has answered, but not with what is needed here. "
                "If it happens again, tell whoever runs this back office."
            ),
        )


class TooMany(PageRefused):
    """They come too often, and may come again in so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(429, N_("That was too much at once"), N_("Nothing was changed."), seconds)

    def said(self, language: Language) -> str:
        """How long to wait, as the header says it."""
        wait = language.ngettext(
            "Please wait %(num)d second and repeat what you were doing.",
            "Please wait %(num)d seconds and repeat what you were doing.",
            self.retry_after,
        )
        return f"{language.gettext(self.sentence)} {wait % {'num': self.retry_after}}"
