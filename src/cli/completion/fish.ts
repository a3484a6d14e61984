import type { CommandNode, OptionWord } from './command-tree.ts';

/** A `complete` for each word, with what it is for. */
export function writeFish(name: string, nodes: readonly CommandNode[]): string {
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

/** In fish only these two mean anything between single quotes. */
function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
