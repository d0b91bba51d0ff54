import { type CommandEntry, type FlagEntry, groupsOf } from "./completion-table.js";

/** The script for fish. */
export function fishScript(entries: readonly CommandEntry[]): string {
  const groups = groupsOf(entries);
  return `# fish completion for bursar; made by \`bursar completion fish\`
function __bursar_path
    set -l words (commandline -opc)
    set -l path ""
    for word in $words[2..-1]
        if string match -q -- '-*' $word
            test -z "$path"; or break
            continue
        end
        test "$path" = help; and set path ""
        if test -z "$path"
            set path $word
        else
            contains -- $path ${groups.join(" ")}; and set path "$path $word"
            break
        end
    end
    echo $path
end
function __bursar_at
    test (__bursar_path) = "$argv"
end
function __bursar_ids
    bursar completion ids $argv (commandline -cp | string collect) 2>/dev/null
end
complete -c bursar -f
${entries.map(entryLines).join("")}`;
}

function entryLines({ path, commands, flags, wanted }: CommandEntry): string {
  const at = `complete -c bursar -n ${quoted(path === "" ? "__bursar_at ''" : `__bursar_at ${path}`)}`;
  const lines = [
    ...commands.map(({ name, about }) => `${at} -a ${quoted(name)} -d ${quoted(about)}`),
    ...flags.map((flag) => `${at} ${flagText(flag)}`),
    ...wanted.map((kind) => (kind === "files" ? `${at} -F` : `${at} -a ${quoted(`(__bursar_ids ${kind})`)}`)),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function flagText({ name, about, valued, wanted, values }: FlagEntry): string {
  const spelt = name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
  const value = !valued ? "" : wanted === "files" ? " -r -F" : " -x";
  const some = values.length === 0 ? "" : ` -a ${quoted(values.join(" "))}`;
  return `${spelt}${value}${some} -d ${quoted(about)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
