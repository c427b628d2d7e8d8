"""Tools as providers hold a model to them: a schema in the provider's strict subset that means what the original means.

    found = openai.form(schema)                  # or anthropic.form(schema)
    if isinstance(found, StrictForm):
        offer(found.described(description), found.schema, strict=True)
        arguments = found.undo(arguments)        # before they are validated against `schema`, the original
    else:                                        # Inexpressible: where and why
        offer(description, schema, strict=False)

The form takes everything that the original takes, each instance in one way that `undo` reads back; it may take more,
for it is the original that judges in the end. What a subset cannot bound is said in words; where it would have to shut
something out that the original takes, there is no form. What the original takes is what `OutsideSchema` takes: an
object has the fields that are declared for it and no others.

Gemini takes JSON Schema as it is, so neither of its surfaces needs a form or anything undone.

    source      what applies to one place together     building   the way from original to form
    overlap     what two forms of a choice share       choices    which choices become `anyOf`
    conditions  what only narrows, to be said          bounds     the narrowest of several bounds
    words       the sentences                          undoing    from the model's arguments to what they mean
    openai, anthropic   the two subsets and their limits (`sizes`)
"""

from adapters.envelopes.strict.form import Inexpressible, StrictForm

__all__ = ["Inexpressible", "StrictForm"]
