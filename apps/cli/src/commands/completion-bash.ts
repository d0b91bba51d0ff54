import { type CommandEntry, groupsOf } from "./completion-table.js";

/** The script for bash, which needs nothing but bash itself, of version 3 or newer. */
export function bashScript(entries: readonly CommandEntry[]): string {
  const cases = entries.map(entryCase).join("");
  const groups = groupsOf(entries);
  return `# bash completion for bursar; made by \`bursar completion bash\`
_bursar() {
  local cur prev words at word path="" commands="" flags="" files="" valued="" ids="" value=""
  COMPREPLY=()
  cur=\${COMP_WORDS[COMP_CWORD]}
  prev=\${COMP_WORDS[COMP_CWORD - 1]}
  [ "$cur" = "=" ] && cur=""
  [ "$prev" = "=" ] && prev=\${COMP_WORDS[COMP_CWORD - 2]}
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case $word in
      -*) [ -z "$path" ] || break ;;
      *)
        [ "$path" = help ] && path=""
        if [ -z "$path" ]; then path=$word
        else
          case $path in ${groups.join(" | ")}) path="$path $word" ;; esac
          break
        fi
        ;;
    esac
  done
  case $path in
${cases}    *) return ;;
  esac
  case " $files " in *" $prev "*) COMPREPLY=($(compgen -f -- "$cur")); return ;; esac
  case $path$prev in
${entries.map(valueCases).join("")}  esac
  if [ -n "$value" ]; then COMPREPLY=($(compgen -W "$value" -- "$cur")); return; fi
  case " $valued " in *" $prev "*) return ;; esac
  case $cur in -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")); return ;; esac
  COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  case $ids in *files*) COMPREPLY+=($(compgen -f -- "$cur")) ;; esac
  for word in $ids; do
    [ "$word" = files ] && continue
    COMPREPLY+=($(compgen -W "$(bursar completion ids "$word" "$COMP_LINE" 2>/dev/null)" -- "$cur"))
  done
}
complete -o filenames -F _bursar bursar
`;
}

function entryCase({ path, commands, flags, wanted }: CommandEntry): string {
  const names = (of: readonly { readonly name: string }[]) => of.map(({ name }) => name).join(" ");
  const files = flags.filter((flag) => flag.wanted === "files");
  const valued = flags.filter((flag) => flag.valued);
  return `    ${quoted(path)})
      commands=${quoted(names(commands))}
      flags=${quoted(names(flags))}
      files=${quoted(names(files))} valued=${quoted(names(valued))} ids=${quoted(wanted.join(" "))}
      ;;
`;
}

function valueCases({ path, flags }: CommandEntry): string {
  return flags
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => `    ${quoted(`${path}${name}`)}) value=${quoted(values.join(" "))} ;;\n`)
    .join("");
}

function quoted(text: string): string {
  return `"${text}"`;
}
