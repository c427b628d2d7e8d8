"""Exchanges that were recorded at providers, read and answered by our adapters, and everything compared.

`python -m tests.recorded FOLDER` reads every `*.jsonl` of a folder. Each line is one exchange: `id`, `surface`, `tools`
(the request's, or null), `response` (JSON) or `stream` (the text of its server-sent events), and `followup` (what the
provider accepted as answers in the next request, or null). What is expected is worked out here from the recording
itself and shares no code with the adapters.
"""
