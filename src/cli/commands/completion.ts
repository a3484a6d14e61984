import { Argument, type Command } from 'commander';
import type { RunCommand } from '../command.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** `completion`; `openWhole` makes a program that has every command. */
export function addCompletionCommand(
  program: Command,
  runCommand: RunCommand,
  openWhole: () => Command,
): void {
  program
    .command('completion')
    .description('print what makes a shell complete the commands and options')
    .addArgument(new Argument('<shell>', 'whose').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', examples)
    .action(async (shell: Shell, _own: unknown, command: Command) => {
      await runCommand(command, async ({ options, terminal }) => {
        const script = await write(shell, openWhole());
        if (options.json) terminal.printJson({ shell, script });
        else terminal.print(script.trimEnd());
        return 0;
      });
    });
}

async function write(shell: Shell, whole: Command): Promise<string> {
  const { readCommandTree } = await import('../completion/command-tree.ts');
  const nodes = readCommandTree(whole);
  if (shell === 'fish') return (await import('../completion/fish.ts')).writeFish(whole.name(), nodes);
  const { writeBash, writeZsh } = await import('../completion/bash.ts');
  return shell === 'bash' ? writeBash(whole.name(), nodes) : writeZsh(whole.name(), nodes);
}

const examples = `
Nothing is started while a word is completed. Behind an option that takes a file, and where no word fits, names of files are completed.

Examples:
  eval "$(signalbox completion bash)"          in ~/.bashrc
  eval "$(signalbox completion zsh)"           in ~/.zshrc
  signalbox completion fish | source           in ~/.config/fish/config.fish`;
