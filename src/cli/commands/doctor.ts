import { RuntimeError } from '../../base/errors.ts';
import { versionOf } from '../../base/version.ts';
import { type CommandContext, command, launcherOf, type Outcome } from '../command.ts';

export const doctorCommand = command('doctor [file]', {
  about: 'check a config and its machine; with --chaos, what every filter does when it fails',
  options: {
    '--chaos': 'replace every filter with a program that fails, in each way it can fail',
    '--junit <file>': 'with --chaos, also write the results as JUnit',
  },
  givesVerdict: true,
  examples: `
No tool, eval or hook of the config starts: --chaos runs its own programs in their place.

Examples:
  signalbox doctor
  signalbox doctor agents/runtime.yaml --json | jq '.checks[] | select(.status == "error")'
  signalbox doctor --chaos
  signalbox doctor --chaos --junit chaos.xml --json

Exit codes: 0 no errors (warnings are shown); with --chaos, every filter receives events and none allows without a documented
rule; 1 an error, or such a filter; 2 the config cannot be read, or with --chaos has errors; 130 interrupted.`,
  run: async (context, { chaos, junit }, file) => {
    const { invocation, options, isConfigGiven } = context;
    const config = file ?? options.config;
    const overlays = config === options.config ? options.overlays : [];
    const asked = { env: invocation.env, launcher: launcherOf(invocation), overlays };
    if (chaos === true) return await tryFilters(config, { asked, junit }, context);
    if (junit !== undefined) throw new RuntimeError('USAGE', '--junit needs --chaos');
    const { loadDoctor } = await import('../../runtime/runtime.ts');
    const { runDoctor } = await loadDoctor();
    const isNamed = file !== undefined || isConfigGiven;
    const checks = await runDoctor(config, { ...asked, version: versionOf(), isNamed });
    const count = (status: string) => checks.filter((each) => each.status === status).length;
    const errors = count('error');
    const { renderChecks } = await import('../show/doctor.ts');
    return {
      document: { checks, errors, warnings: count('warning') },
      text: renderChecks(checks, context.terminal).join('\n'),
      exitCode: errors === 0 ? 0 : 1,
    };
  },
});

interface Asked {
  readonly asked: {
    readonly env: CommandContext['invocation']['env'];
    readonly launcher: ReturnType<typeof launcherOf>;
    readonly overlays: readonly string[];
  };
  readonly junit: string | undefined;
}

async function tryFilters(
  config: string,
  { asked, junit }: Asked,
  { terminal, signal }: CommandContext,
): Promise<Outcome> {
  const { loadChaos } = await import('../../runtime/runtime.ts');
  const { runChaos, writeChaosJunit } = await loadChaos();
  const { openPercent, renderChaos } = await import('../show/doctor.ts');
  const progress = openPercent(terminal, 'cells');
  const report = await runChaos(config, { ...asked, signal, onProgress: progress.update }).finally(
    progress.end,
  );
  if (junit !== undefined) await writeChaosJunit(report, junit);
  const open = report.cells.filter(({ isClosed }) => !isClosed);
  const isUnreached = report.untried.some(({ state }) => state === 'unreached');
  return {
    document: {
      cells: report.cells.length,
      denied: report.cells.length - open.length,
      open: open.map(({ hook, fault, rule }) => ({ hook, fault, rule })),
      untried: report.untried,
    },
    text: renderChaos(report, terminal).join('\n'),
    exitCode: isUnreached || open.some(({ rule }) => rule === null) ? 1 : 0,
  };
}
