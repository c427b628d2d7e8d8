"""The APIs that the scripted model stands behind, one module each."""

from collections.abc import Sequence

from examples.scripted_model.front import Front
from examples.scripted_model.fronts.anthropic_messages import AnthropicMessages
from examples.scripted_model.fronts.gemini_generate_content import GeminiGenerateContent
from examples.scripted_model.fronts.gemini_interactions import GeminiInteractions
from examples.scripted_model.fronts.openai_chat import OpenAIChat
from examples.scripted_model.fronts.openai_responses import OpenAIResponses


def fronts() -> Sequence[Front]:
    """One of each; those whose API keeps conversations have kept none yet."""
    return (AnthropicMessages(), OpenAIChat(), OpenAIResponses(), GeminiGenerateContent(), GeminiInteractions())
