/** Lines that demand nothing a test could prove, with the reason why. */
export type Prose = readonly [reason: string, lines: string];

const HEADING = "heading";
const SPELLED_OUT = "states the requirement its scenarios spell out";
const INTRODUCTION = "introduces the list that follows";
const MOTIVATION = "motivation";
const SUMMARY = "sums up what the later sections demand one by one";

/** By the number of the text. What is neither here nor in the manifest is a requirement somebody overlooked. */
export const prose: Readonly<Record<string, readonly Prose[]>> = {
  "000": [
    [HEADING, "1, 3"],
    [SPELLED_OUT, "5-7, 59-61, 85-87, 109-111, 133-135, 153-155"],
  ],
  "001": [
    [HEADING, "1, 3"],
    [SPELLED_OUT, "5-7, 102-104, 129-131, 150-152"],
  ],
  "002": [
    [HEADING, "1, 3, 5"],
    ["placeholder for a purpose that was never written", "4"],
    [SPELLED_OUT, "6-8, 30-32, 50-52, 70-72, 86-88"],
  ],
  "003": [
    [HEADING, "1, 3, 11, 20, 30, 60, 73, 97, 104"],
    [SUMMARY, "5-9, 22-28"],
    [MOTIVATION, "13-18"],
    [INTRODUCTION, "48"],
  ],
  "004": [
    [HEADING, "1, 7, 11, 13, 20, 28, 39, 41, 55, 70, 83, 129, 139, 156, 171, 212, 214, 222, 226, 230"],
    [HEADING, "264, 275, 277, 280, 319, 346, 364, 373"],
    ["rule between two sections", "273, 387, 401"],
    ["state of the document", "3-5"],
    [SUMMARY, "9, 21-26, 278"],
    [MOTIVATION, "14-18"],
    [INTRODUCTION, "56, 66, 71, 141, 149, 153, 158, 298, 313, 366"],
    ["head of a table", "30-31, 131-132, 266-267"],
    ["opening or closing lines of a type or method", "44-45, 52-53, 58-59, 63-64, 73-74, 80-81, 160-161, 168-169"],
    ["opening or closing lines of a type or method", "283-284, 288-290, 295-296, 306-307, 310-311, 322-323, 342-344"],
    ["opening or closing lines of a type or method", "350-351, 360-362, 377-380, 383-385"],
    ["box drawing of the flow diagram", "85-86, 90-93, 95-96, 98-101, 105-108, 110-113, 117-123, 126-127"],
    ["title of a box in the flow diagram", "87, 94, 124"],
    ["status report of another code base", "232-245, 254-262"],
    ["restates what sections 4, 5, 7, 8 and 10 demand, as a status report", "247-252"],
    ["list of changed files of another code base", "389-399"],
    ["references to documents of another code base", "403-407"],
  ],
};
