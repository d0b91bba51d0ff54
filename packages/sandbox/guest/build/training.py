# What the meter is trained on: small programs of many kinds, as models write them. The host counts which ways through the
# interpreter they take, and the meter then charges where fewer of them come by. None of it is measured by a benchmark: a meter
# that knew the questions beforehand would look better than it is.
import collections
import csv
import dataclasses
import datetime
import functools
import hashlib
import io
import itertools
import json
import math
import os
import re
import string
import struct
import textwrap
import zlib

import _bursar


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    for factor in range(2, int(limit**0.5) + 1):
        if flags[factor]:
            for multiple in range(factor * factor, limit + 1, factor):
                flags[multiple] = 0
    return sum(flags) - 2


def queens(size, row=0, columns=(), rising=(), falling=()):
    if row == size:
        return 1
    count = 0
    for column in range(size):
        if column not in columns and row + column not in rising and row - column not in falling:
            count += queens(size, row + 1, columns + (column,), rising + (row + column,), falling + (row - column,))
    return count


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


def vectors():
    total = Vector(0, 0, 0)
    for number in range(300):
        total = total + Vector(number, 1.5, -number)
    return total.dot(total)


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


class Tree:
    def __init__(self):
        self.root = None
        self.size = 0

    def insert(self, key):
        self.size += 1
        if self.root is None:
            self.root = Node(key)
            return
        node = self.root
        while True:
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    return
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(key)
                    return
                node = node.right

    def walk(self, node):
        if node is not None:
            yield from self.walk(node.left)
            yield node.key
            yield from self.walk(node.right)


def trees():
    tree, seed = Tree(), 17
    for _ in range(300):
        seed = seed * 69069 + 1 & 0x7FFFFFFF
        tree.insert(seed % 1000)
    return list(tree.walk(tree.root))[:3]


def matrices(size):
    left = [[row * column % 7 + 0.5 for column in range(size)] for row in range(size)]
    right = [[row + column for column in range(size)] for row in range(size)]
    product = [
        [sum(left[row][at] * right[at][column] for at in range(size)) for column in range(size)] for row in range(size)
    ]
    return product[-1][-1]


def words():
    text = "The quick brown fox jumps over the lazy dog, and runs away from the bear. " * 20
    counts = collections.Counter(word.strip(".,").lower() for word in text.split())
    common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    return common, text.title()[:20], text.replace("o", "0").count("0"), "-".join(text.split()[:10]), textwrap.fill(text)


def parsing():
    pair = re.compile(r"(\w+)=(\d+);?")
    text = ";".join("%s%d=%d" % (string.ascii_lowercase[at % 26], at, at * at) for at in range(120))
    return len(pair.findall(text)), re.sub(r"\d+", lambda found: str(int(found.group()) + 1), text)[:20]


def records():
    items = [
        {"id": at, "name": "item-%d" % at, "tags": ["a", "b"], "price": at * 1.25, "even": at % 2 == 0, "none": None}
        for at in range(60)
    ]
    text = json.dumps({"items": items})
    return len(text), json.loads(text)["items"][5], len(json.dumps(items, indent=1, sort_keys=True))


def failures():
    count = 0
    for number in range(300):
        try:
            if number % 3 == 0:
                raise KeyError(number)
            int("x" if number % 5 == 0 else "7")
            [][number]
        except (KeyError, ValueError):
            count += 1
        except IndexError as error:
            count += len(str(error))
        finally:
            count += 1
    return count


def primes():
    def generate():
        number = 2
        while True:
            if all(number % factor for factor in range(2, int(number**0.5) + 1)):
                yield number
            number += 1

    return list(itertools.islice(generate(), 80))[-1]


def large_numbers():
    a, b = 0, 1
    for _ in range(300):
        a, b = b, a + b
    return len(str(a)), pow(3, 1000, 10**9 + 7), (a * b) % 1000003, 2**200 // 3**50


def mandelbrot():
    total = 0
    for row in range(12):
        for column in range(16):
            z, c = 0j, complex(column / 8 - 1.5, row / 6 - 1)
            for step in range(20):
                z = z * z + c
                if abs(z) > 2:
                    break
            total += step
    return total


@functools.lru_cache(maxsize=None)
def distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))


def fnv():
    value = 2166136261
    for byte in b"some bytes to hash over and over" * 12:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def tables():
    names = {number: str(number) for number in range(500)}
    rests = {number % 37 for number in names}
    ending = sum(number for number in names if names[number].endswith("7"))
    return len(names), len(rests), ending, max(names.items(), key=lambda pair: pair[1])


def lists():
    numbers = [(at * 7919) % 1009 for at in range(800)]
    numbers.sort()
    texts = sorted(map(str, numbers), key=len, reverse=True)
    sums = [a + b for a, b in zip(numbers, numbers[1:]) if a % 2][:2]
    return texts[5], numbers[::-1][3], sums, f"{math.pi:.3f} {len(numbers):>6}", sum(each * 0.5 for each in numbers)


@dataclasses.dataclass(order=True)
class Booking:
    day: datetime.date
    amount: float
    text: str = ""


def bookings():
    first = datetime.date(2024, 1, 31)
    made = [Booking(first + datetime.timedelta(days=at * 11 % 90), at * 1.1, f"no. {at}") for at in range(120)]
    months = collections.defaultdict(float)
    for booking in sorted(made):
        months[booking.day.strftime("%Y-%m")] += booking.amount
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows((month, f"{amount:,.2f}") for month, amount in months.items())
    return list(csv.reader(io.StringIO(file.getvalue())))


def shortest_ways():
    ways = {at: [((at * 7 + step) % 60, step + at % 5) for step in range(1, 5)] for at in range(60)}
    known, waiting = {0: 0}, collections.deque([0])
    while waiting:
        here = waiting.popleft()
        for there, length in ways[here]:
            if known[here] + length < known.get(there, math.inf):
                known[there] = known[here] + length
                waiting.append(there)
    return sum(known.values())


def packing():
    packed = b"".join(struct.pack("<IHd", at, at & 255, at / 3) for at in range(200))
    assert zlib.decompress(zlib.compress(packed)) == packed
    return sum(part[0] for part in struct.iter_unpack("<IHd", packed)), hashlib.md5(packed).hexdigest()


def tracing(work):
    @functools.wraps(work)
    def traced(*args, **options):
        return work(*args, **options)

    return traced


@tracing
def closures(count=200, *, step=3):
    adders = [lambda value, by=by: value + by for by in range(5)]
    return sum(adders[at % 5](at) for at in range(0, count, step))


def code():
    source = "def half(n):\n    if n % 2:\n        return None\n    return [n // 2, *range(3)]\nresult = half(8)\n"
    scope = {}
    exec(compile(source, "<training>", "exec"), scope)
    return scope["result"]


def main():
    print(sieve(3000), queens(6), vectors(), trees(), matrices(14), words(), parsing(), records(), failures(), primes())
    print(large_numbers(), mandelbrot(), distance("kitten sitting", "sitting kitten"), fnv(), tables(), lists())
    print(bookings(), shortest_ways(), packing(), closures(), closures(90, step=2), code())


_bursar.register(main)
# Starting the interpreter and reading this is not what is trained: the host forgets it, and then calls main.
os._exit(77)
