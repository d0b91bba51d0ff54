import { type BudgetLimits, defineTool, type Tool } from "bursar";
import type { ModelPrices } from "bursar/models";
import type { Script } from "bursar/testing";

/** What the run executes, what it may use, and the made-up world it works in. */

export const PROGRAM_NAME = "triage.py";

export const PROGRAM = `notes = []
for name in await host.tool("reports", {}):
    text = await host.tool("read", {"name": name})
    print(f"{name}: {len(notes)} notes so far")
    ask = {"prompt": f"One sentence: {text}", "max_tokens": 60}
    note = await host.llm(ask)
    notes.append(f"{name}: {note['text']}")
left = (await host.budget())["remaining"]["llm_tokens"]
print(f"{len(notes)} notes, {left} tokens left")
await host.call("result", notes)
`;

export const MODEL = "scripted-large";

export const PRICES: ModelPrices = { [MODEL]: { input_usd_per_mtok: 15, output_usd_per_mtok: 75 } };

/** Too few tokens for all reports: the last two do not fit. */
export const LIMITS: BudgetLimits = {
  steps: 40,
  llm_tokens: 1050,
  cost_usd: 0.1,
  wall_clock_ms: 60_000,
  fuel: 100_000_000,
  network_egress_bytes: null,
  storage_write_bytes: null,
};

export const MEMORY_BYTES = 64 * 1024 * 1024;

interface Report {
  readonly name: string;
  readonly text: string;
  /** What the model makes of it, according to the script. */
  readonly note: string;
}

const REPORTS: readonly Report[] = [
  {
    name: "pump-3",
    text:
      "At 04:10 pump 3 lost pressure for the second time this week. The night shift changed the filter and bled the line, " +
      "after which the pressure held. The filter they took out was full of rust, and so was the one on Tuesday. Nobody has " +
      "looked at the tank yet. The pump itself runs quietly and within its limits; its bearings were greased in March.",
    note: "Pump 3 clogs with rust again and again, so look into the tank.",
  },
  {
    name: "gate-7",
    text:
      "Gate 7 opened by itself twice between 11:00 and 11:30 and closed again after a minute. Nobody had asked for it, and " +
      "the log of the controller has no entry for either time. The cable to the push button runs next to the new welding " +
      "robot, which was tried out for the first time this morning. Since noon, when the robot stood still, all is quiet.",
    note: "The welding robot seems to disturb the cable of gate 7.",
  },
  {
    name: "cold-room",
    text:
      "The cold room was at nine degrees on Monday morning instead of four. The compressor ran all the time. Its condenser " +
      "outside was packed with leaves from the storm at the weekend; once they were removed the room was down to four degrees " +
      "within two hours. Forty crates of yoghurt had to be thrown away, which the insurance wants to see in writing.",
    note: "Leaves on the condenser warmed the cold room and cost forty crates.",
  },
  {
    name: "lift-2",
    text:
      "Lift 2 stops about three centimetres below the third floor, and only there. Two people have stumbled, without harm. The " +
      "company that maintains it came on Wednesday, found nothing and left. On Thursday it was three centimetres again. The " +
      "magnet that marks the third floor was replaced in spring, together with the carpet in front of the doors.",
    note: "The new magnet of lift 2 is probably mounted too low on floor three.",
  },
  {
    name: "badge",
    text:
      "Since the update on Friday nine people could not enter with their badges, all of them in the new building. At the old " +
      "building the same badges work. The reader shows a green light, but the door stays shut. After the reader is switched " +
      "off and on it works for an hour or so. The maker says that it has not heard of anything like it before.",
    note: "The update broke the door readers of the new building; roll it back.",
  },
  {
    name: "truck-12",
    text:
      "Truck 12 used a third more fuel in May than in April, on the same route, with the same driver and about the same load. " +
      "Its tyres are new and their pressure is right. The workshop found that one brake on the rear axle is always a little " +
      "warm after a trip. They have ordered a part, which takes two weeks, and the truck goes on driving until then.",
    note: "A dragging rear brake makes truck 12 thirsty, and should not wait.",
  },
  {
    name: "printer",
    text:
      "The label printer in hall 2 leaves every tenth label blank. It happens with all rolls but those from the old maker, of " +
      "which two are left. The new rolls are thinner and have no mark on the back; the printer looks for that mark to find out " +
      "where a label begins. Whoever chose the new rolls saved four hundred euros a year with them.",
    note: "The cheap label rolls lack the mark that the printer needs.",
  },
];

/** Answers as a model might that has read the reports. */
export function scriptFor(latency_ms: number): Script {
  return ({ text }) => {
    const report = REPORTS.find((each) => text.includes(each.text));
    if (report === undefined) return { kind: "status", status: 400, message: "the script knows only its own reports" };
    return { kind: "text", text: report.note, latency_ms };
  };
}

export const TOOLS: readonly Tool[] = [
  defineTool({
    name: "reports",
    description: "The names of all reports.",
    input: { type: "object", properties: {} },
    run: () => REPORTS.map(({ name }) => name),
  }),
  defineTool({
    name: "read",
    description: "The text of a report.",
    input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    run: ({ name }: { readonly name: string }) => {
      const report = REPORTS.find((each) => each.name === name);
      if (report === undefined) throw new Error(`there is no report ${name}`);
      return report.text;
    },
  }),
];
