# An agent in Python, in the sandbox:
#   bursar run research.py --module tools.mjs --input '{"topics":["tea","coffee"]}'
given = await host.call("input", {})
found = {}
for topic in given["topics"]:
    notes = await host.tool("notes/search", {"topic": topic})
    found[topic] = notes
    print(f"{topic}: {len(notes)} notes")

left = (await host.budget())["remaining"]
await host.call("result", {"found": found, "steps_left": left.get("steps")})  # None: no limit
