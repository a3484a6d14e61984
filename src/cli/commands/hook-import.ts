import { type Command, Option } from 'commander';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { HooksImport } from '../../runtime/runtime.ts';
import type { CommandContext, RunCommand } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';

interface ImportFlags {
  readonly dialect?: 'picoclaw' | 'chibi' | 'claude' | 'agentao';
  readonly write?: true;
}

/** `hook import`. */
export function addHookImport(group: Command, runCommand: RunCommand): void {
  group
    .command('import <file>')
    .description('turn hooks of another system into entries of the config')
    .addOption(
      new Option('--dialect <name>', 'whose hooks they are; default: the form of each rule decides').choices([
        'picoclaw',
        'chibi',
        'claude',
        'agentao',
      ]),
    )
    .option('--write', 'write them into the config, comments kept; what it has already is not added again')
    .addHelpText('after', examples)
    .action(async (file: string, own: ImportFlags, command: Command) => {
      await runCommand(command, async (context) => await importHooks(context, file, own));
    });
}

async function importHooks(
  { options, terminal }: CommandContext,
  file: string,
  { dialect, write }: ImportFlags,
): Promise<ExitCode> {
  const { loadImporter, formatProblem } = await import('../../runtime/runtime.ts');
  const { readHooks, writeHooks } = await loadImporter();
  const { config } = options;
  const found = readHooks(file, { config, dialect });
  const { entries, yaml, problems } = found;
  const written = write ? writeHooks(file, found, config) : undefined;
  if (options.json) {
    terminal.printJson({ config, entries, added: written?.added ?? [], problems });
    return exitCodeOf(found);
  }
  for (const problem of problems) terminal.printStderr(escapeInvisible(formatProblem(problem)));
  if (entries.length === 0 && exitCodeOf(found) !== 0)
    terminal.printStderr(`error: [CONFIG_INVALID] no hook of ${file} can be imported`);
  if (written === undefined) {
    if (yaml !== '') terminal.printValue(yaml.trimEnd());
    return exitCodeOf(found);
  }
  if (written.isNew) terminal.print(`wrote ${config}`);
  for (const name of written.added) terminal.print(`added ${escapeInvisibleLine(name)}`);
  const known = entries.length - written.added.length;
  if (known > 0) terminal.print(`${known} of ${entries.length} in ${config} already`);
  return exitCodeOf(found);
}

/** 1 when some hook could not be imported. */
function exitCodeOf({ problems }: HooksImport): ExitCode {
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}

const examples = `
Examples:
  signalbox hook import .claude/settings.json
  signalbox hook import .claude/settings.json --write
  signalbox hook import ~/.picoclaw/config.json --config agents/runtime.yaml --write
  signalbox hook import ./plugins --dialect chibi
  signalbox hook import ./guard-plugin --json | jq '.entries[].name'

FILE is a settings file or hooks.json of Claude Code or Agentao, a plugin’s folder, PicoClaw’s config.json, or a
folder of chibi plugins. The YAML goes to stdout, and what is wrong with the file to stderr.

Exit codes: 0 everything was taken over (warnings are told), 1 something was left out, 2 wrong call or config.`;
