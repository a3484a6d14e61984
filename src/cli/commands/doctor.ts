import type { Command } from 'commander';
import { RuntimeError } from '../../base/errors.ts';
import { type CommandContext, launcherOf, type RunCommand } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { versionOf } from '../version.ts';

interface DoctorFlags {
  readonly chaos?: true;
  readonly junit?: string;
}

/** `doctor`. */
export function addDoctorCommand(program: Command, runCommand: RunCommand): void {
  program
    .command('doctor [file]')
    .description('check a config and its machine, or with --chaos what every filter does when it fails')
    .option('--chaos', 'let a program that fails take the place of every filter, in each way it can fail')
    .option('--junit <file>', 'with --chaos, also write what it shows as JUnit')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, own: DoctorFlags, command: Command) => {
      await runCommand(command, async (context) => {
        const config = file ?? context.options.config;
        if (own.chaos === true) return await tryFilters(config, own, context);
        const isNamed = file !== undefined || context.isConfigGiven;
        return await check(config, { junit: own.junit, isNamed }, context);
      });
    });
}

const examples = `
No tool, eval or hook of the config is started: --chaos starts programs of its own in their place.

Examples:
  signalbox doctor
  signalbox doctor agents/runtime.yaml --json | jq '.checks[] | select(.status == "error")'
  signalbox doctor --chaos
  signalbox doctor --chaos --junit chaos.xml --json

Exit codes: 0 no errors (warnings are told), or with --chaos every filter is reached and none passes without a documented rule;
1 an error, or such a filter; 2 the config cannot be read, or with --chaos has errors; 130 interrupted.`;

async function check(
  config: string,
  { junit, isNamed }: { readonly junit: string | undefined; readonly isNamed: boolean },
  { invocation, options, terminal }: CommandContext,
): Promise<ExitCode> {
  if (junit !== undefined) throw new RuntimeError('USAGE', '--junit belongs to --chaos');
  const { loadDoctor } = await import('../../runtime/runtime.ts');
  const { runDoctor } = await loadDoctor();
  const overlays = config === options.config ? options.overlays : [];
  const asked = {
    env: invocation.env,
    launcher: launcherOf(invocation),
    version: versionOf(),
    isNamed,
    overlays,
  };
  const checks = await runDoctor(config, asked);
  const count = (status: string) => checks.filter((each) => each.status === status).length;
  const errors = count('error');
  if (options.json) terminal.printJson({ checks, errors, warnings: count('warning') });
  else {
    const { renderChecks } = await import('../show/doctor/checks.ts');
    for (const line of renderChecks(checks, terminal)) terminal.print(line);
  }
  return errors === 0 ? 0 : 1;
}

async function tryFilters(
  config: string,
  { junit }: DoctorFlags,
  { invocation, options, terminal, signal }: CommandContext,
): Promise<ExitCode> {
  const { loadChaos } = await import('../../runtime/runtime.ts');
  const { runChaos, writeChaosJunit } = await loadChaos();
  const { openChaosProgress, renderChaos } = await import('../show/doctor/chaos.ts');
  const progress = openChaosProgress(terminal);
  const launcher = launcherOf(invocation);
  const overlays = config === options.config ? options.overlays : [];
  const asked = { env: invocation.env, launcher, signal, overlays, onProgress: progress.update };
  const report = await runChaos(config, asked).finally(progress.end);
  if (junit !== undefined) await writeChaosJunit(report, junit);
  const open = report.cells.filter(({ isClosed }) => !isClosed);
  if (options.json) {
    terminal.printJson({
      cells: report.cells.length,
      denied: report.cells.length - open.length,
      open: open.map(({ hook, fault, rule }) => ({ hook, fault, rule })),
      untried: report.untried,
    });
  } else {
    for (const line of renderChaos(report, terminal)) terminal.print(line);
  }
  const isUnreached = report.untried.some(({ state }) => state === 'unreached');
  return isUnreached || open.some(({ rule }) => rule === null) ? 1 : 0;
}
