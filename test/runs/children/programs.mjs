// The same errand as four kinds of program: so many turns, in each of which a model is asked and a tool adds up. What they
// print depends on chance, too, where a replay has to find the same chance again.
import { defineAgent, guestProgram } from "bursar";
import { compilePlan } from "bursar/plans";

const PYTHON = `
import random

given = await host.call("input", {})
before = sum(range(given["before"]))
total = 0
with open("/app/turns.txt", "w") as file:
    file.write("x" * given["bytes"])
    file.flush()
    for turn in range(given["turns"]):
        answer = await host.llm({"prompt": f"{given['question']} {turn}", "max_tokens": 16})
        total = await host.tool("add", {"a": total, "b": int(answer["text"])})
        file.write(f"{turn}\\n")
        print("turn", turn, total, random.randrange(1_000_000))
print(before, len(open("/app/turns.txt").read()))
await host.call("result", {"total": total})
`;

const JAVASCRIPT = `
const given = await host.call("input", {});
let before = 0;
for (let at = 0; at < given.before; at++) before += at;
let total = 0;
for (let turn = 0; turn < given.turns; turn++) {
  const answer = await host.llm({ prompt: \`\${given.question} \${turn}\`, max_tokens: 16 });
  total = await host.tool("add", { a: total, b: Number(answer.text) });
  console.log("turn", turn, total, Math.floor(Math.random() * 1_000_000));
}
console.log(before);
await host.call("result", { total });
`;

const PLAN = `
(run :name "adds"
     :inputs [question turns before]
     :body (let [sum (reduce + (range before))
                 total (loop [turn 0 total 0]
                         (if (= turn turns)
                           total
                           (let [answer (call :llm/ask {:prompt (str question " " turn) :max_tokens 16})
                                 more (call :add {:a total :b (parse-number (:text answer))})]
                             (println "turn" turn more)
                             (recur (+ turn 1) more))))]
             (println sum)
             {:total total}))
`;

/** With other words it is another program, which still goes by the same name and version. */
function typescript(wording) {
  return async (ctx, { question, turns }) => {
    let total = 0;
    for (let turn = 0; turn < turns; turn++) {
      const answer = await ctx.model({ prompt: `${question}${wording} ${turn}`, max_tokens: 16 });
      total = await ctx.tool("add", { a: total, b: Number(answer.text) });
    }
    return { total };
  };
}

/** All of them, by the names of their kinds. */
export function programs(sandbox, wording) {
  const plain = { packages: [], memory_bytes: 64 * 1024 * 1024 };
  return [
    guestProgram("python", { ...plain, language: "python", code: PYTHON }, sandbox),
    guestProgram("javascript", { ...plain, language: "javascript", code: JAVASCRIPT }, sandbox),
    guestProgram("plan", { ...plain, language: "javascript", code: compilePlan(PLAN).code }, sandbox),
    defineAgent("typescript", typescript(wording)),
  ];
}
