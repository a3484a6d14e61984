import type { CommandNode } from './command-tree.ts';

/**
 * A function for bash 3.2 and newer, which zsh runs too. It looks words up and starts no program; where none fits, bash completes
 * names of files.
 */
export function writeBash(name: string, nodes: readonly CommandNode[]): string {
  const known = nodes.filter(({ path }) => path.length > 0).map(({ path }) => `'${path.join(' ')}'`);
  return `# Completion of ${name} for bash: eval "$(${name} completion bash)"
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' values='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${path:+$path }\${COMP_WORDS[i]}
    case "$word" in
      ${known.join('|')}) path=$word ;;
    esac
  done
  COMPREPLY=()
  case "$path $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$path" in
${nodes.map(wordCase).join('\n')}
  esac
  if [ -n "$values" ]; then words=$values; elif [[ $current == -* ]]; then words=\${words#*|}; else words=\${words%%|*}; fi
  if [ "$values" != - ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  return 0
}
complete -o default -F _${name} ${name}
`;
}

/** What may stand behind an option: its values, or for a file or any text `-`. */
function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ word, short, choices }) => {
      const names = [word, ...(short === undefined ? [] : [short])].map(
        (each) => `'${path.join(' ')} ${each}'`,
      );
      return `    ${names.join('|')}) values='${choices.length === 0 ? '-' : choices.join(' ')}' ;;`;
    });
}

function wordCase({ path, commands, options, choices }: CommandNode): string {
  const words = [...commands.map(({ word }) => word), ...choices];
  return `    '${path.join(' ')}') words='${words.join(' ')}|${options.map(({ word }) => word).join(' ')}' ;;`;
}

/** The same function; zsh 5 brings what runs it. */
export function writeZsh(name: string, nodes: readonly CommandNode[]): string {
  const [, ...script] = writeBash(name, nodes).split('\n');
  return `# Completion of ${name} for zsh: eval "$(${name} completion zsh)"
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${script.join('\n')}`;
}
