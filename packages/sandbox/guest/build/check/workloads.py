# Runs inside of a guest: does some typical work, each kind for long enough that a coarse clock will do, and prints how
# many seconds it takes once it is warm.
import time


def loop():
    total = 0
    for number in range(150_000):
        total += number * number % 7
    return total


def calls():
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return fibonacci(19)


def floats():
    x = y = 0.5
    for _ in range(40_000):
        x, y = 3.9 * x * (1 - x), (x + y) ** 0.5
    return x + y


def integers():
    value = 1
    for number in range(1, 900):
        value *= number
    return len(str(value % 10**500))


def objects():
    class Node:
        __slots__ = ("left", "right")

        def __init__(self, left, right):
            self.left, self.right = left, right

        def count(self):
            return 1 + sum(each.count() for each in (self.left, self.right) if each)

    def grow(depth):
        return Node(grow(depth - 1), grow(depth - 1)) if depth else None

    return grow(11).count()


def dictionaries():
    counts = {}
    for number in range(50_000):
        key = number * 7919 % 5003
        counts[key] = counts.get(key, 0) + 1
    return len(counts)


def sorting():
    value, values = 12345, []
    for _ in range(15_000):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        values.append(str(value))
    return sorted(values)[0], sorted(values, key=len)[0]


def strings():
    text = ",".join(str(number) for number in range(20_000))
    return len(text.replace("1", "xx").upper().split(","))


def documents():
    import json

    data = {"list": [1, 2.5, "é", None, True] * 20, "dict": {str(n): {"v": n, "n": f"name {n}"} for n in range(100)}}
    for _ in range(25):
        data = json.loads(json.dumps(data))
    return len(data)


def patterns():
    import re

    text = "the quick brown fox jumps over 1234 lazy dogs foo@bar.com; " * 60
    return len(re.findall(r"\b\w+@\w+\.com\b", text)) + len(re.sub(r"(\d+)", r"<\1>", text))


def hashing():
    import hashlib

    return hashlib.sha256(bytes(range(256)) * 2000).hexdigest()


def tables():
    import csv
    import io

    buffer = io.StringIO()
    csv.writer(buffer).writerows((n, f"name {n}", n / 7) for n in range(3000))
    buffer.seek(0)
    return sum(len(row) for row in csv.reader(buffer))


KINDS = (loop, calls, floats, integers, objects, dictionaries, sorting, strings, documents, patterns, hashing, tables)
ENOUGH_SECONDS = 0.25
for kind in KINDS:
    kind()
    rounds, begun, passed = 0, time.perf_counter(), 0
    while passed < ENOUGH_SECONDS:
        kind()
        rounds, passed = rounds + 1, time.perf_counter() - begun
    print(kind.__name__, passed / rounds)
