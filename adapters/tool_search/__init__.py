"""Finding the few tools that fit, among many, by words or by a regular expression.

    index = ToolIndex(Entry(name=…, title=…, description=…, tags=…, argument_words=…) for … in …)
    index.search("고객이 환불을 원해요", allowed=names)            # 3 to 5 tools, the best first
    index.matching("^(refund|void)_", allowed=names, limit=10)    # CallRefused: a pattern that cannot be held

No input, no output and no model: BM25 over the words that the tools' authors wrote. Tools that are not in `allowed` are
left out before anything is counted, so answers are those of a catalog without them. `docs/tool-search.md` says how to
tag a tool and how well all this finds.

    entry      what is indexed, what is found        words      from text to what is compared
    index      the way in                            english    endings that are cut off
    labels     called by its name, or by a tag       korean     particles and endings, pairs of syllables
    ranking    one set of rights, ranked             glossary   words that mean nearly the same
    patterns   regular expressions from a model      spelling   words that are one slip away
"""

from adapters.tool_search.entry import By, Entry, Found
from adapters.tool_search.index import ToolIndex

__all__ = ["By", "Entry", "Found", "ToolIndex"]
