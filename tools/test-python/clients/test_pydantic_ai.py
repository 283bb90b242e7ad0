import unittest
from typing import Literal

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from asked import BASE, KEY, MODEL


class Trip(BaseModel):
    city: Literal["Rome", "Oslo"]
    days: Literal[1, 2, 3]


class PydanticAi(unittest.TestCase):
    def run_agent(self, output_type):
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE, api_key=KEY))
        settings = {"temperature": 1.2, "max_tokens": 200, "seed": 3}
        return Agent(model, output_type=output_type, model_settings=settings, retries=0).run_sync("Plan a trip.")

    def test_gets_an_object_by_a_schema(self):
        self.assertIsInstance(self.run_agent(NativeOutput(Trip)).output, Trip)

    def test_gets_an_object_by_a_required_tool(self):
        self.assertIsInstance(self.run_agent(ToolOutput(Trip)).output, Trip)
