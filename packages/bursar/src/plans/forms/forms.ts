import { doseq, forForm, letForm, loop, recur } from "./bindings.js";
import { body, fn } from "./body.js";
import { and, cond, ifForm, or, when } from "./choices.js";
import { call, parallel, run, step, tryForm } from "./effects.js";
import type { FormName } from "./names.js";
import type { SpecialForm } from "./special-form.js";
import { threadFirst, threadLast } from "./threads.js";

const doForm: SpecialForm = (list, context, resolver) => body(list.items.slice(1), context, resolver);

/** Definitions are read together with what stands around them. */
const misplacedDefinition: SpecialForm = (list, _, resolver) => {
  throw resolver.error(list, "a definition cannot stand here", "put it among the parts of a do, let, fn or :body");
};

const misplacedHandler: SpecialForm = (list, _, resolver) => {
  throw resolver.error(list, "this belongs into a try", "write (try … (catch e …))");
};

const TABLE: Readonly<Record<FormName, SpecialForm>> = {
  run,
  do: doForm,
  let: letForm,
  if: ifForm,
  when,
  cond,
  and,
  or,
  fn,
  def: misplacedDefinition,
  defn: misplacedDefinition,
  loop,
  recur,
  for: forForm,
  doseq,
  try: tryForm,
  catch: misplacedHandler,
  finally: misplacedHandler,
  call,
  step,
  parallel,
  "->": threadFirst,
  "->>": threadLast,
};

/** All forms by their names. */
export const FORMS: ReadonlyMap<string, SpecialForm> = new Map(Object.entries(TABLE));

/** What people who know Clojure will try, and what to write instead. */
export const FOREIGN_FORMS: Readonly<Record<string, string>> = {
  "if-let": "write (let [x …] (if x …))",
  "when-let": "write (let [x …] (when x …))",
  "if-not": "write (if (not …) …)",
  "when-not": "write (when (not …) …)",
  case: "write (cond (= x 1) …)",
  condp: "write (cond …)",
  while: "write (loop […] (when … (recur …)))",
  dotimes: "write (doseq [i (range n)] …)",
  atom: "values do not change; use loop or reduce",
  "swap!": "values do not change; use loop or reduce",
  "reset!": "values do not change; use loop or reduce",
  quote: "nothing has to be quoted: write a vector, a keyword or a text",
  defmacro: "there are no macros; use defn",
  ns: "there are no namespaces; leave it out",
  require: "there is nothing to import; leave it out",
  eval: "no text becomes code here",
  list: "write a vector: [a b]",
  keyword: "a keyword is a text; leave it out",
  "keyword?": "a keyword is a text; see string?",
  seq: "write (not (empty? …))",
  next: "write (rest …)",
  comp: "write (fn [x] (f (g x)))",
  partial: "write (fn [x] (f a x))",
  format: "write (str …), and (fixed x 2) for decimals",
  print: "write (println …)",
  "ex-info": 'write (throw {:message "…" :code "…"})',
  rand: "plans hold no chance; let a tool give it",
};
