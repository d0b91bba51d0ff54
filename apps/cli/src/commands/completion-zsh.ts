import { type CommandEntry, type FlagEntry, groupsOf } from "./completion-table.js";

/** The script for zsh: a function for its completion system, to be found in its fpath or to be sourced. */
export function zshScript(entries: readonly CommandEntry[]): string {
  const groups = groupsOf(entries);
  return `#compdef bursar
# zsh completion for bursar; made by \`bursar completion zsh\`
_bursar() {
  local path_="" word at cur=$words[CURRENT] prev=$words[CURRENT-1]
  local -a commands flags files valued ids value found
  for ((at = 2; at < CURRENT; at++)); do
    word=$words[at]
    case $word in
      -*) [[ -z $path_ ]] || break ;;
      *)
        [[ $path_ == help ]] && path_=""
        if [[ -z $path_ ]]; then path_=$word
        else
          case $path_ in ${groups.map((path) => `(${path})`).join(" | ")}) path_="$path_ $word" ;; esac
          break
        fi
        ;;
    esac
  done
  case $path_ in
${entries.map(entryCase).join("")}    *) return 1 ;;
  esac
  if (( \${files[(Ie)$prev]} )); then _files; return; fi
  case $path_$prev in
${entries.map(valueCases).join("")}  esac
  if (( $#value )); then compadd -a value; return; fi
  (( \${valued[(Ie)$prev]} )) && return 1
  if [[ $cur == -* ]]; then _describe -o flag flags; return; fi
  (( $#commands )) && _describe command commands
  for word in $ids; do
    if [[ $word == files ]]; then _files; continue; fi
    found=(\${(f)"$(bursar completion ids $word "$BUFFER" 2>/dev/null)"})
    (( $#found )) && compadd -a found
  done
}
if [[ $funcstack[1] == _bursar ]]; then _bursar "$@"; else compdef _bursar bursar; fi
`;
}

function entryCase({ path, commands, flags, wanted }: CommandEntry): string {
  const list = (names: readonly string[]) => `(${names.map(quoted).join(" ")})`;
  const described = (of: readonly { readonly name: string; readonly about: string }[]) =>
    list(of.map(({ name, about }) => (about === "" ? name : `${name}:${about}`)));
  const named = (test: (flag: FlagEntry) => boolean) => list(flags.filter(test).map(({ name }) => name));
  return `    ${quoted(path)})
      commands=${described(commands)}
      flags=${described(flags)}
      files=${named(({ wanted: kind }) => kind === "files")} valued=${named(({ valued }) => valued)} ids=${list(wanted)}
      ;;
`;
}

function valueCases({ path, flags }: CommandEntry): string {
  return flags
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => `    ${quoted(`${path}${name}`)}) value=(${values.map(quoted).join(" ")}) ;;\n`)
    .join("");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
