import type { Command, Option } from 'commander';

export function writeCompletion(shell: string, program: Command): string {
  const nodes = nodesOf(program, [], []);
  const name = program.name();
  if (shell === 'fish') return writeFish(name, nodes);
  return shell === 'bash' ? writeBash(name, nodes) : writeZsh(name, nodes);
}

interface CommandNode {
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly NamedWord[];
  readonly options: readonly OptionWord[];
  readonly choices: readonly string[];
}

interface NamedWord {
  readonly word: string;
  readonly description: string;
}

interface OptionWord extends NamedWord {
  readonly short: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

function nodesOf(command: Command, path: readonly string[], above: readonly OptionWord[]): CommandNode[] {
  const help = command.createHelp();
  const options = [...above, ...help.visibleOptions(command).map(toOption).filter(isKnown)];
  const inherited = options.filter(({ word }) => word !== '--version' && word !== '--help');
  const commands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const node: CommandNode = {
    path,
    description: command.description(),
    commands: commands.map((each) => ({ word: each.name(), description: each.description() })),
    options,
    choices: [...(command.registeredArguments[0]?.argChoices ?? [])],
  };
  return [node, ...commands.flatMap((each) => nodesOf(each, [...path, each.name()], inherited))];
}

function toOption({
  long,
  short,
  description,
  required,
  optional,
  argChoices,
}: Option): OptionWord | undefined {
  if (long === undefined || long === null) return undefined;
  return {
    word: long,
    short: short ?? undefined,
    description,
    takesValue: required || optional,
    choices: [...(argChoices ?? [])],
  };
}

function isKnown(option: OptionWord | undefined): option is OptionWord {
  return option !== undefined;
}

/** For bash 3.2 and newer, and zsh. Starts no program; without a match, bash completes file names. */
function writeBash(name: string, nodes: readonly CommandNode[]): string {
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

function writeZsh(name: string, nodes: readonly CommandNode[]): string {
  const [, ...script] = writeBash(name, nodes).split('\n');
  return `# Completion of ${name} for zsh: eval "$(${name} completion zsh)"
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${script.join('\n')}`;
}

function writeFish(name: string, nodes: readonly CommandNode[]): string {
  return `# Completion of ${name} for fish: ${name} completion fish | source
function __${name}_at
  set -l words (commandline -opc)[2..]
  set -l path
  for word in $words
    set -l longer (string join ' ' -- $path $word)
    contains -- $longer ${nodes
      .filter(({ path }) => path.length > 0)
      .map(({ path }) => quote(path.join(' ')))
      .join(' ')}; and set path $path $word
  end
  set -l joined (string join ' ' -- $path)
  test "$joined" = "$argv[1]"
end
${nodes.flatMap((node) => linesOf(name, node)).join('\n')}
`;
}

function linesOf(name: string, { path, commands, options, choices }: CommandNode): string[] {
  const start = `complete -c ${name} -n ${quote(`__${name}_at ${quote(path.join(' '))}`)}`;
  return [
    ...commands.map(
      ({ word, description }) => `${start} -f -a ${quote(word)} -d ${quote(firstLine(description))}`,
    ),
    ...choices.map((choice) => `${start} -f -a ${quote(choice)}`),
    ...options.map((option) => `${start} ${optionOf(option)}`),
  ];
}

function optionOf({ word, short, description, takesValue, choices }: OptionWord): string {
  const values = choices.length === 0 ? '-r' : `-x -a ${quote(choices.join(' '))}`;
  return [
    `-l ${word.replace(/^--/, '')}`,
    ...(short === undefined ? [] : [`-s ${short.replace(/^-/, '')}`]),
    ...(takesValue ? [values] : []),
    `-d ${quote(firstLine(description))}`,
  ].join(' ');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
