"""Events that somebody outside may want to be told of; the names are what receivers know them by, and stay."""

from enum import StrEnum


class NoticeType(StrEnum):
    """What has happened to a question to people, or to a write.

    `VOID` is a question or a grant that was taken back, because what it binds has changed or its operation has ended.
    """

    ASKED = "approval.asked"
    GRANTED = "approval.granted"
    DENIED = "approval.denied"
    EXPIRED = "approval.expired"
    VOID = "approval.void"
    MANUAL_REVIEW = "operation.manual_review"
    ENDED = "operation.ended"
