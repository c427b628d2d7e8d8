"""How well the tool search finds: `python -m tests.search`, or `make eval-search`.

    catalog.toml    the tools of a made-up company         labelled    both files as values
    queries.toml    what is asked for, what is right       measuring   recall and rank
    report          the tables and the verdict             picture     the same as bars
                                                           timing      how long a search takes

To add a query, write it into `queries.toml` before trying it; whoever changes the method or a tag looks at no failure
that is held out.
"""
