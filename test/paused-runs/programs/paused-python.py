import random
import time

began = time.time()
chance = random.random()
order = list({"tea", "coffee", "water", str(chance)})
with open("/app/kept.txt", "w") as file:
    file.write(f"{chance}\n")
lengths = []
for turn in range(32):
    lengths.append(await host.tool("note", {"text": f"python {turn} {chance} {order[0]}"}))
with open("/app/kept.txt") as file:
    kept = float(file.read())
await host.call("result", {"calls": len(lengths), "same": kept == chance, "later": time.time() >= began})
