"""The events of one response of the OpenAI Responses API."""

from collections.abc import Iterator

from examples.scripted_model.front import Json, halves


def events_of(answer: Json) -> Iterator[Json]:
    """Every event in its order, numbered."""
    return (each | {"sequence_number": number} for number, each in enumerate(_unnumbered(answer)))


def _unnumbered(answer: Json) -> Iterator[Json]:
    begun = answer | {"status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index}
        yield {"type": "response.output_item.added", **place, "item": item | _unfinished(item)}
        for each in _pieces(item):
            yield {**each, **place, "item_id": item["id"]}
        yield {"type": "response.output_item.done", **place, "item": item}
    yield {"type": "response.completed", "response": answer}


def _unfinished(item: Json) -> Json:
    match item["type"]:
        case "function_call":
            return {"status": "in_progress", "arguments": ""}
        case "message":
            return {"status": "in_progress", "content": []}
    return {}


def _pieces(item: Json) -> Iterator[Json]:
    match item["type"]:
        case "function_call":
            for piece in halves(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"]}
        case "message":
            yield from _text_pieces(item["content"][0])


def _text_pieces(part: Json) -> Iterator[Json]:
    place = {"content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": part | {"text": ""}}
    for piece in halves(part["text"]):
        yield {"type": "response.output_text.delta", **place, "logprobs": [], "delta": piece}
    yield {"type": "response.output_text.done", **place, "logprobs": [], "text": part["text"]}
    yield {"type": "response.content_part.done", **place, "part": part}
