/** What Python programs do a lot of. Each is a function without arguments that returns something to compare. */
export const PYTHON_WORKLOADS: readonly string[] = [
  "loops",
  "calls",
  "attributes",
  "dictionaries",
  "strings",
  "documents",
  "patterns",
  "sorting",
  "hashing",
  "floats",
  "exceptions",
  "comprehensions",
  "integers",
];

/** Defines them. Each takes some tens of milliseconds. */
export const PYTHON_CODE = `
import hashlib, json, re

def loops():
    total = 0
    for number in range(40_000):
        total += number * number % 7
    return total

def calls():
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
    return fibonacci(21)

class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def moved(self, by):
        self.x += by
        self.y -= self.x
        return self

def attributes():
    point = Point(1, 2)
    for step in range(12_000):
        point.moved(step).y += point.x & 3
    return point.x, point.y

def dictionaries():
    counts = {}
    for number in range(8_000):
        key = number * 7919 % 5003
        counts[key] = counts.get(key, 0) + 1
        counts["k%d" % (key & 255)] = number
    return len(counts), sum(counts.values())

def strings():
    text = ",".join(str(number) for number in range(6_000))
    parts = text.replace("1", "xx").upper().split(",")
    return len("".join(reversed(text))), text.find("5999"), len(" ".join(part.strip().title() for part in parts))

def documents():
    data = {"list": [1, 2.5, "é", None, True] * 20, "dict": {str(n): {"v": n, "n": f"name {n}"} for n in range(100)}}
    for _ in range(18):
        data = json.loads(json.dumps(data))
    return len(json.dumps(data))

def patterns():
    text = "the quick brown fox jumps over 1234 lazy dogs foo@bar.com; " * 250
    found = re.findall(r"\\b\\w+@\\w+\\.com\\b", text)
    return len(found), len(re.sub(r"(\\d+)", r"<\\1>", text)), len(re.findall(r"(?:[a-z]+ ){3}o", text))

def sorting():
    value, values = 12345, []
    for _ in range(5_000):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        values.append(value)
    return sorted(values)[0], sorted(values, key=lambda each: -each)[0], sorted(map(str, values))[0]

def hashing():
    return hashlib.sha256(bytes(range(256)) * 2400).hexdigest()

def floats():
    bodies = [[0.0, 0.0, 0.1, 0.2], [4.84, -1.16, 0.6, 2.8], [8.34, 4.12, -1.01, 1.82], [12.9, -15.1, 1.08, 0.86]]
    pairs = [(bodies[i], bodies[j]) for i in range(4) for j in range(i + 1, 4)]
    for _ in range(900):
        for a, b in pairs:
            dx, dy = a[0] - b[0], a[1] - b[1]
            pull = 0.01 * (dx * dx + dy * dy) ** -1.5
            a[2] -= dx * pull; a[3] -= dy * pull; b[2] += dx * pull; b[3] += dy * pull
        for body in bodies:
            body[0] += 0.01 * body[2]; body[1] += 0.01 * body[3]
    return repr(bodies)

def exceptions():
    caught = 0
    def check(number):
        if number % 3 == 0:
            raise ValueError(number)
        return number
    for number in range(8_000):
        try:
            caught += check(number) & 1
        except ValueError as error:
            caught += error.args[0]
        finally:
            caught += 1
    return caught

def comprehensions():
    squares = [number * number for number in range(15_000) if number & 1]
    names = {number: f"n{number}" for number in squares[:3_000]}
    return sum(each % 10 for each in squares), len({len(name) for name in names.values()}), any(n > 10**9 for n in squares)

def integers():
    value = 1
    for number in range(1, 1_600):
        value = value * number + number
    return value % 10**30, len(str(value % 10**600)), value.bit_length()
`;
