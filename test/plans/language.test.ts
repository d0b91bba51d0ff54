import { afterAll, describe, expect, test } from "vitest";
import type { Form } from "../../packages/bursar/src/plans/edn/form.js";
import { print } from "../../packages/bursar/src/plans/edn/print.js";
import { readForms } from "../../packages/bursar/src/plans/edn/reader.js";
import { Source } from "../../packages/bursar/src/plans/source.js";
import { Bench } from "./fixture.js";

const bench = new Bench();
afterAll(() => bench[Symbol.asyncDispose]());

type Table = readonly (readonly [expression: string, value: unknown])[];

/** Every expression as it stands, and once more with every number coming from the host: what waits gives the same. */
async function check(table: Table): Promise<void> {
  expect(await evaluated(table.map(([expression]) => expression))).toEqual(table.map(([, value]) => value));
  const few = table.filter(([expression]) => !expression.includes("100000"));
  expect(await evaluated(few.map(([expression]) => asking(expression)))).toEqual(few.map(([, value]) => value));
}

/** All in one plan, because every plan is a program of its own. */
async function evaluated(expressions: readonly string[]): Promise<unknown> {
  return bench.evaluate(`[${expressions.join("\n")}]`, { tools: { echo: (value: unknown) => value } });
}

function asking(expression: string): string {
  return readForms(new Source("", expression))
    .map((form) => print(withCalls(form)))
    .join(" ");
}

function withCalls(form: Form): Form {
  const { line, column } = form;
  switch (form.kind) {
    case "number": {
      const items: readonly Form[] = [
        { kind: "symbol", name: "call", line, column },
        { kind: "keyword", name: "echo", line, column },
        form,
      ];
      return { kind: "list", items, line, column };
    }
    case "list":
    case "vector":
      return { ...form, items: form.items.map(withCalls) };
    case "map":
      return { ...form, entries: form.entries.map(([key, value]) => [withCalls(key), withCalls(value)] as const) };
    default:
      return form;
  }
}

describe("values", () => {
  test("of literals", () =>
    check([
      ["nil", null],
      ["true", true],
      ["-7", -7],
      ["0.5", 0.5],
      ["1e3", 1000],
      ["-0.0", 0],
      ['"a\\n\\"\\u00e9"', 'a\n"é'],
      ["\\a", "a"],
      ["\\newline", "\n"],
      [":key", "key"],
      [":ns/key", "ns/key"],
      ["[1 [2] []]", [1, [2], []]],
      ['{:a 1 "b c" {:d nil}}', { a: 1, "b c": { d: null } }],
      ["{(str :a 1) 2}", { a1: 2 }],
      ["#{1 2 3}", [1, 2, 3]],
      ["[1 #_2 3 ; four\n]", [1, 3]],
    ]));

  test("of arithmetic", () =>
    check([
      ["(+)", 0],
      ["(+ 1 2 3.5)", 6.5],
      ["(-  5)", -5],
      ["(- 0)", 0],
      ["(- 10 1 2)", 7],
      ["(*)", 1],
      ["(* 2 3 4)", 24],
      ["(* 0 -1)", 0],
      ["(/ 7 2)", 3.5],
      ["(/ 6 2)", 3],
      ["(/ 4)", 0.25],
      ["(quot 7 2)", 3],
      ["(quot -7 2)", -3],
      ["(quot 9007199254740991 9007199254740990)", 1],
      ["(rem -7 2)", -1],
      ["(mod -7 2)", 1],
      ["(mod 7 -2)", -1],
      ["(mod -6 2)", 0],
      ["(inc 1)", 2],
      ["(dec 0.5)", -0.5],
      ["(abs -3)", 3],
      ["[(round 2.5) (round -2.5) (round -0.4) (floor 1.9) (ceil 1.1)]", [3, -2, 0, 1, 2]],
      ["[(min 3 1 2) (max 3 1 2)]", [1, 3]],
      ["(+ 9007199254740990 1)", 9007199254740991],
      ["(* 1.5e300 2)", 3e300],
    ]));

  test("of comparisons", () =>
    check([
      ["[(< 1 2 3) (< 1 3 2) (<= 1 1) (> 2 1) (>= 1 2) (< 1)]", [true, false, true, true, false, true]],
      ["[(= 1 1.0) (= [1 {:a [2]}] [1 {:a [2]}]) (= {:a 1} {:a 1 :b 2}) (= nil false)]", [true, true, false, false]],
      ["(= {:a 1 :b 2} {:b 2 :a 1})", true],
      ['[(= :a "a") (not= 1 2) (= [] {}) (= 1 1 2)]', [true, true, false, false]],
      ['[(compare 1 2) (compare "b" "a") (compare [1 2] [1 2]) (compare [1] [1 0])]', [-1, 1, 0, -1]],
      ["[(zero? 0) (pos? -1) (neg? -1) (even? 4) (odd? -3)]", [true, false, true, true, true]],
    ]));

  test("of texts", () =>
    check([
      ['(str "a" 1 nil true :k [1 {:a "x"}])', 'a1truek[1,{"a":"x"}]'],
      ['[(join ", " ["a" 1 nil]) (join ["a" "b"]) (join "-" nil)]', ["a, 1, ", "ab", ""]],
      [
        '[(split "a,b,,c" ",") (split "añ😀" "")]',
        [
          ["a", "b", "", "c"],
          ["a", "ñ", "😀"],
        ],
      ],
      ['(split-lines "a\\r\\nb\\nc\\n")', ["a", "b", "c"]],
      [
        '[(trim " a ") (upper-case "straße") (lower-case "ÄB") (capitalize "éA") (capitalize "")]',
        ["a", "STRASSE", "äb", "Éa", ""],
      ],
      ['(replace "a.b.c" "." "$&")', "a$&b$&c"],
      [
        '[(starts-with? "abc" "ab") (ends-with? "abc" "ab") (includes? "abc" "b") (blank? " ") (blank? nil)]',
        [true, false, true, true, true],
      ],
      [
        '[(subs "a😀bc" 1) (subs "a😀bc" 1 2) (subs "abc" 3) (count "a😀b") (index-of "a😀b" "b") (index-of "abc" "x")]',
        ["😀bc", "😀", "", 3, 2, null],
      ],
      [
        '[(parse-number " -1.5e1 ") (parse-number "1x") (parse-number "") (parse-number "9007199254740993") (parse-number "1e999")]',
        [-15, null, null, null, null],
      ],
      ["[(fixed 3.14159 2) (fixed 2 1) (name :a/b)]", ["3.14", "2.0", "a/b"]],
      ['(to-json {:a [1 nil "x"]})', '{"a":[1,null,"x"]}'],
      ['(parse-json "{\\"a\\": [1, {\\"b\\": null}]}")', { a: [1, { b: null }] }],
    ]));

  test("of vectors", () =>
    check([
      ["[(count [1 2]) (count nil) (count {:a 1}) (empty? []) (empty? {:a 1})]", [2, 0, 1, true, false]],
      [
        '[(first [1 2]) (second [1 2]) (last [1 2]) (first []) (rest [1 2 3]) (rest nil) (first "ab")]',
        [1, 2, 2, null, [2, 3], [], "a"],
      ],
      ['[(nth [1 2] 1) (nth [1 2] 5 :none) (get [1 2] 0) (get [1 2] 9) (get "abc" 1)]', [2, "none", 1, null, "b"]],
      [
        "[(conj [1] 2 3) (conj nil 1) (cons 0 [1]) (into [1] [2 3]) (concat [1] nil [2]) (vector 1 2) (vec {:a 1})]",
        [[1, 2, 3], [1], [0, 1], [1, 2, 3], [1, 2], [1, 2], [["a", 1]]],
      ],
      [
        '[(reverse [1 2]) (distinct [1 1 [2] [2] nil nil]) (sort [3 1 2]) (sort ["b" "a"]) (flatten [1 [2 [3]]])]',
        [
          [2, 1],
          [1, [2], null],
          [1, 2, 3],
          ["a", "b"],
          [1, 2, 3],
        ],
      ],
      [
        "[(take 2 [1 2 3]) (drop 2 [1 2 3]) (take-last 2 [1 2 3]) (drop-last 1 [1 2 3]) (take 9 [1])]",
        [[1, 2], [3], [2, 3], [1, 2], [1]],
      ],
      [
        "[(range 3) (range 1 4) (range 0 1 0.5) (range 3 0 -1) (range 0)]",
        [[0, 1, 2], [1, 2, 3], [0, 0.5], [3, 2, 1], []],
      ],
      ["[(repeat 3 :x) (repeat -1 :x) (partition-all 2 [1 2 3])]", [["x", "x", "x"], [], [[1, 2], [3]]]],
      ["[(includes? [1 [2]] [2]) (contains? #{1 2} 2) (index-of [1 [2]] [2]) (set [1 1 2])]", [true, true, 1, [1, 2]]],
      ["[(union [1 2] [2 3]) (intersection [1 2] [2 3]) (difference [1 2] [2 3])]", [[1, 2, 3], [2], [1]]],
      ["(assoc [1 2] 1 :b 2 :c)", [1, "b", "c"]],
    ]));

  test("of maps", () =>
    check([
      [
        "[(get {:a 1} :a) (get {:a 1} :b) (get {:a 1} :b 2) (get nil :a) (:a {:a 1}) (:b {:a 1} 3) (:a nil)]",
        [1, null, 2, null, 1, 3, null],
      ],
      [
        "[(get {:a nil} :a 1) (get-in {:a [{:b 2}]} [:a 0 :b]) (get-in {:a 1} [:x :y] :none) (get-in {:a nil} [:a] 1)]",
        [null, 2, "none", null],
      ],
      [
        "[(assoc {:a 1} :b 2 :a 3) (assoc nil :a 1) (assoc-in {} [:a :b] 1) (dissoc {:a 1 :b 2} :a :x)]",
        [{ a: 3, b: 2 }, { a: 1 }, { a: { b: 1 } }, { b: 2 }],
      ],
      [
        "[(merge {:a 1 :b 1} nil {:b 2}) (select-keys {:a 1 :b 2} [:a :x :a]) (hash-map :a 1)]",
        [{ a: 1, b: 2 }, { a: 1 }, { a: 1 }],
      ],
      ["[(keys {:b 1 :a 2}) (vals {:b 1 :a 2}) (keys nil)]", [["b", "a"], [1, 2], []]],
      [
        "[(zipmap [:a :b] [1 2 3]) (frequencies [:a :b :a]) (contains? {:a nil} :a) (contains? nil :a)]",
        [{ a: 1, b: 2 }, { a: 2, b: 1 }, true, false],
      ],
      [
        "[(conj {:a 1} [:b 2] {:c 3}) (into {} [[:a 1] [:b 2]]) (into {} {:a 1})]",
        [{ a: 1, b: 2, c: 3 }, { a: 1, b: 2 }, { a: 1 }],
      ],
      ["(let [m {:a 1} n (assoc m :a 2)] [m n])", [{ a: 1 }, { a: 2 }]],
      ['(get (parse-json "{\\"a\\": 1}") :toString)', null],
      ['[(:constructor {}) (contains? (parse-json "{}") "hasOwnProperty")]', [null, false]],
    ]));

  test("of functions that take functions", () =>
    check([
      [
        "[(map inc [1 2]) (map + [1 2 3] [10 20]) (mapv :a [{:a 1} {}]) (map (fn [[k v]] (str k v)) {:a 1})]",
        [[2, 3], [11, 22], [1, null], ["a1"]],
      ],
      [
        "(map-indexed (fn [i x] [i x]) [:a :b])",
        [
          [0, "a"],
          [1, "b"],
        ],
      ],
      [
        "[(mapcat (fn [x] [x x]) [1 2]) (keep :a [{:a 1} {} {:a false}]) (filter odd? (range 5)) (remove odd? (range 5))]",
        [
          [1, 1, 2, 2],
          [1, false],
          [1, 3],
          [0, 2, 4],
        ],
      ],
      [
        "[(take-while neg? [-1 2 -3]) (drop-while neg? [-1 2 -3]) (some even? [1 2]) (some :a [{} {:a 5}]) (some even? []) (every? odd? [1 3])]",
        [[-1], [2, -3], true, 5, null, true],
      ],
      ["(group-by (fn [x] (if (odd? x) :odd :even)) [1 2 3])", { odd: [1, 3], even: [2] }],
      ["(sort-by :n [{:n 2 :i 1} {:n 1} {:n 2 :i 2}])", [{ n: 1 }, { n: 2, i: 1 }, { n: 2, i: 2 }]],
      ['(sort-by (fn [x] [(count x) x]) ["bb" "c" "a"])', ["a", "c", "bb"]],
      [
        "[(reduce + [1 2 3]) (reduce + 10 []) (reduce (fn [a x] (conj a (* x x))) [] [1 2]) (reduce max [3 9 2])]",
        [6, 10, [1, 4], 9],
      ],
      ['[(apply + [1 2]) (apply max 1 [5 2]) (apply str "a" ["b"])]', [3, 5, "ab"]],
      [
        "[(update {:n 1} :n inc) (update {:n 1} :n + 5 6) (update {} :n (fn [x] (if (nil? x) 0 x))) (update-in {:a {:b 1}} [:a :b] dec)]",
        [{ n: 2 }, { n: 12 }, { n: 0 }, { a: { b: 0 } }],
      ],
      ["[(identity 1) (map identity [1])]", [1, [1]]],
      ["(map (fn [f] (f [3 4])) [first last count])", [3, 4, 2]],
    ]));

  test("of kinds", () =>
    check([
      [
        "[(nil? nil) (some? nil) (true? 1) (false? false) (boolean? nil) (number? 1) (integer? 1.5) (string? :a)]",
        [true, false, false, true, false, true, false, true],
      ],
      [
        "[(vector? [1]) (vector? {}) (map? {}) (map? [1]) (map? nil) (fn? inc) (fn? :a) (boolean 0) (not nil) (not 0)]",
        [true, false, true, false, false, true, false, true, true, false],
      ],
    ]));
});

describe("forms", () => {
  test("that choose", () =>
    check([
      ['[(if true 1 2) (if nil 1 2) (if false 1) (if 0 1 2) (if "" 1 2) (if [] 1 2)]', [1, 2, null, 1, 1, 1]],
      ["[(when true 1 2) (when nil 1)]", [2, null]],
      ["[(cond false 1 nil 2 :else 3) (cond true 1 :else 2) (cond false 1)]", [3, 1, null]],
      [
        "[(and) (and 1 2) (and 1 nil 2) (and false (/ 1 0)) (or) (or nil 2) (or nil false) (or 1 (/ 1 0))]",
        [true, 2, null, false, null, 2, false, 1],
      ],
      ["[(if (and 1 2) :y :n) (if (or nil (and 1 false)) :y :n) (if (not (or nil nil)) :y :n)]", ["y", "n", "y"]],
      [`(cond ${"false 1 ".repeat(400)} :else 2)`, 2],
    ]));

  test("that give names", () =>
    check([
      ["(let [a 1 b (+ a 1) a 5] [a b])", [5, 2]],
      ["(let [[a [b c] & more :as all] [1 [2] 3 4]] [a b c more all])", [1, 2, null, [3, 4], [1, [2], 3, 4]]],
      ["(let [{:keys [a b] :or {b (+ 1 1)} :as m} {:a 1}] [a b m])", [1, 2, { a: 1 }]],
      ["(let [{:keys [a] :or {a 2}} {:a nil}] a)", null],
      ['(let [{x :a [y] :b z "c d"} {:a 1 :b [2] "c d" 3}] [x y z])', [1, 2, 3]],
      ["(let [{:keys [a]} nil [b] nil] [a b])", [null, null]],
      ["(do (def a 1) (def b (inc a)) [a b])", [1, 2]],
      ["(let [count 3 map {:a 1}] [count (:a map)])", [3, 1]],
      ["(let [input 1] input)", 1],
      ["(let [a 1] (let [a 2] a) a)", 1],
      ["(let [a.b? 1 <x> 2 $y 3 return 4 await 5] [a.b? <x> $y return await])", [1, 2, 3, 4, 5]],
    ]));

  test("that make functions", () =>
    check([
      ["((fn [x y] (+ x y)) 1 2)", 3],
      ["((fn [& xs] xs) 1 2)", [1, 2]],
      ["((fn [a & [b]] [a b]) 1 2 3)", [1, 2]],
      ["((fn [{:keys [a]} [b]] [a b]) {:a 1} [2])", [1, 2]],
      ['(do (defn f "doubles" [x] (* 2 x)) (f 4))', 8],
      [
        "(do (defn even [n] (if (= n 0) true (odd (dec n)))) (defn odd [n] (if (= n 0) false (even (dec n)))) (even 10))",
        true,
      ],
      ["((fn fact [n] (if (<= n 1) 1 (* n (fact (dec n))))) 5)", 120],
      ["(let [add (fn [a] (fn [b] (+ a b)))] ((add 1) 2))", 3],
      ["(let [f :a] (f {:a 1}))", 1],
      ["(map (fn [f] (f)) (map (fn [n] (fn [] n)) [1 2]))", [1, 2]],
      [
        "(let [fs (loop [i 0 fs []] (if (< i 3) (recur (inc i) (conj fs (fn [] i))) fs))] (map (fn [f] (f)) fs))",
        [0, 1, 2],
      ],
      ["((fn [n acc] (if (= n 0) acc (recur (dec n) (+ acc n)))) 1000 0)", 500500],
      ["((fn [& xs] (if (> (count xs) 3) xs (recur (conj xs 0)))) 1)", [1, 0, 0, 0]],
    ]));

  test("that repeat", () =>
    check([
      ["(loop [i 0 sum 0] (if (< i 100000) (recur (inc i) (+ sum i)) sum))", 4999950000],
      ["(loop [[x & more] [1 2 3] sum 0] (cond (nil? x) sum :else (let [next (+ sum x)] (recur more next))))", 6],
      ["(loop [a 1 b 2 n 3] (if (= n 0) [a b] (recur b a (dec n))))", [2, 1]],
      ["(for [x [1 2 3] y [10 20] :when (odd? x) :let [z (* x y)]] z)", [10, 20, 30, 60]],
      ["(for [[k v] {:a 1 :b 2}] (str k v))", ["a1", "b2"]],
      ["[(for [x []] x) (doseq [x [1 2]] x)]", [[], null]],
      ["(for [x [1 2]] (loop [i x] (if (> i 5) i (recur (* i 3)))))", [9, 6]],
    ]));

  test("that go through stages", () =>
    check([
      ["(-> 1 inc (- 5) (->> (+ 10)))", 7],
      ["(->> (range 10) (filter odd?) (map (fn [x] (* x x))) (reduce +))", 165],
      ["(-> {:a {:b 2}} :a :b)", 2],
    ]));

  test("that deal with errors", () =>
    check([
      ["(try 1 (catch e 2))", 1],
      ['(try (throw "no") (catch e (:message e)))', "no"],
      ['(try (throw {:message "no" :code :mine :data {:x 1}}) (catch :other e 1) (catch :mine e (:data e)))', { x: 1 }],
      ['(try (try (throw {:message "no" :code :a}) (catch :b e 1)) (catch e (:code e)))', "a"],
      ["(try (try (/ 1 0) (finally 5)) (catch e [(:line e) (> (:column e) 0)]))", [5, true]],
      ['(do (defn f [x] (try (if (> x 2) (throw "big") x) (catch e :caught))) (map f [1 5]))', [1, "caught"]],
      ['(try (let [m (parse-json "{")] m) (catch :invalid_json e :bad))', "bad"],
    ]));
});
