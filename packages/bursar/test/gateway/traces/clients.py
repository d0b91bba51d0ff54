"""What the official Python clients are asked to do while their requests are recorded: see README.md.

python3 clients.py <case> <gateway> <key>    prints what came of it as JSON; ends with 3 where the client is not installed
"""

import asyncio
import json
import sys

HELLO = [{"role": "user", "content": "Grüße, 世界"}]
LONG = {"model": "gpt-4o", "max_tokens": 100, "messages": HELLO}
MESSAGE = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": HELLO}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
CACHED = [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}]


def openai_chat(client):
    return client.chat.completions.create(**LONG).choices[0].message.content


def openai_chat_again(client):
    """The provider is busy at first, and the client tries again."""
    return client.chat.completions.create(**LONG, user="busy at first").choices[0].message.content


def openai_chat_stream(client):
    asked = {"model": "gpt-4o", "max_completion_tokens": 100, "messages": HELLO}
    events = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    return "".join(event.choices[0].delta.content or "" for event in events if event.choices)


def openai_chat_tools(client):
    return client.chat.completions.parse(**LONG, tools=[WEATHER]).choices[0].message.content


def openai_responses(client):
    return client.responses.create(model="gpt-4o", input="Hi", max_output_tokens=100).output_text


async def openai_responses_async_stream(client):
    text = ""
    async for event in await client.responses.create(model="gpt-4o", input="Hi", max_output_tokens=100, stream=True):
        text += event.delta if event.type == "response.output_text.delta" else ""
    return text


def openai_embeddings(client):
    answer = client.embeddings.create(model="text-embedding-3-small", input=["one", "two"])
    return "Hello." if len(answer.data) == 2 else f"{len(answer.data)} embeddings"


def openai_count(client):
    return client.responses.input_tokens.count(model="gpt-4o", input="Hi").input_tokens


def anthropic_messages(client):
    return client.messages.create(**MESSAGE).content[0].text


def anthropic_messages_stream(client):
    with client.messages.stream(**MESSAGE) as stream:
        return "".join(stream.text_stream)


async def anthropic_beta_async(client):
    asked = {**MESSAGE, "system": CACHED, "betas": ["prompt-caching-2024-07-31"]}
    return (await client.beta.messages.create(**asked)).content[0].text


def anthropic_count(client):
    return client.messages.count_tokens(model="claude-sonnet-4-5", messages=HELLO).input_tokens


CASES = {
    name.replace("_", "-"): case
    for name, case in list(globals().items())
    if name.startswith(("openai_", "anthropic_")) and callable(case)
}


def client_for(case, library, gateway, key):
    is_async = asyncio.iscoroutinefunction(case)
    if library.__name__ == "openai":
        return (library.AsyncOpenAI if is_async else library.OpenAI)(base_url=f"{gateway}/v1", api_key=key)
    return (library.AsyncAnthropic if is_async else library.Anthropic)(base_url=gateway, api_key=key)


def main(name, gateway, key):
    case = CASES[name]
    try:
        library = __import__(name.split("-")[0])
    except ImportError:
        sys.exit(3)
    outcome = {"client": library.__name__, "version": library.__version__}
    try:
        said = case(client_for(case, library, gateway, key))
        outcome["said"] = asyncio.run(said) if asyncio.iscoroutine(said) else said
    except library.APIStatusError as error:
        outcome |= {"error": type(error).__name__, "status": error.status_code, "message": str(error)}
    print(json.dumps(outcome))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(list(CASES)))
    else:
        main(*sys.argv[1:])
