import type { Argument, Command, Option } from 'commander';

/** What can stand on a command line behind the name of a command. */
export interface CommandNode {
  /** The words that lead to it, without the program's own. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly NamedWord[];
  readonly options: readonly OptionWord[];
  /** The values of its first argument, where they are few. */
  readonly choices: readonly string[];
}

interface NamedWord {
  readonly word: string;
  readonly description: string;
}

export interface OptionWord extends NamedWord {
  readonly short: string | undefined;
  /** Whether a word behind it belongs to it. */
  readonly takesValue: boolean;
  /** Empty: anything, such as a file. */
  readonly choices: readonly string[];
}

/** The program and all commands below it, each with the options of those above. */
export function readCommandTree(program: Command): readonly CommandNode[] {
  return nodesOf(program, [], []);
}

function nodesOf(command: Command, path: readonly string[], above: readonly OptionWord[]): CommandNode[] {
  const help = command.createHelp();
  const options = [...above, ...help.visibleOptions(command).map(toOption).filter(isKnown)];
  // --version and --help are of the command that they stand at.
  const inherited = options.filter(({ word }) => word !== '--version' && word !== '--help');
  const commands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const node: CommandNode = {
    path,
    description: command.description(),
    commands: commands.map((each) => ({ word: each.name(), description: each.description() })),
    options,
    choices: [...(firstOf(command.registeredArguments)?.argChoices ?? [])],
  };
  return [node, ...commands.flatMap((each) => nodesOf(each, [...path, each.name()], inherited))];
}

function firstOf(all: readonly Argument[]): Argument | undefined {
  return all[0];
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
