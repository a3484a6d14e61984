import { dirname, join } from 'node:path';
import { escapeInvisible, escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { command } from '../../command.ts';

export const importCommand = command('import <file>', {
  about: 'turn files of promptfoo, Inspect, Ragas, DeepEval and PromptKit Arena into a runtime and suites',
  options: {
    '--from <system>': [
      'whose file it is; default: what is in it tells',
      { choices: ['promptfoo', 'promptfoo-results', 'inspect', 'ragas', 'deepeval', 'arena'] },
    ],
    '--provider <id>': 'who answers where the file names nobody, as `openai:gpt-4.1` or `file://answer.py`',
    '--output <folder>': 'where they are written; default: `signalbox` beside the file',
    '--force': 'overwrite what is there',
    '--dry-run': 'only say what would be carried',
  },
  examples: `
Examples:
  signalbox eval import promptfooconfig.yaml
  signalbox eval import promptfooconfig.yaml --output evals --force
  signalbox eval import promptfooconfig.yaml --dry-run --json | jq '.problems[].message'
  signalbox eval import results.json && signalbox eval diff signalbox/promptfoo.run.jsonl last
  signalbox eval import samples.jsonl --from inspect --provider openai:gpt-4.1-mini

Of promptfoo each pair of a prompt and a provider is a variant of the suite, and of the run that results become. What
cannot be carried with the same verdict is left out and told with its line on stderr; no program that the file names is
run, and keys are never written out, only the names of their variables.

Exit codes: 0 everything was carried, 1 something was left out, 2 wrong call or a file that cannot be read.`,
  run: async ({ options, terminal }, own, file) => {
    const { loadSuiteImporter, formatProblem } = await import('../../../runtime/runtime.ts');
    const { importSuite: read, writeImport } = await loadSuiteImporter();
    const output = own.output ?? join(dirname(file), 'signalbox');
    const found = await read(file, { output, from: own.from, provider: own.provider });
    if (!own.dryRun && found.files.length > 0) writeImport(output, found, own.force ?? false);
    const { status, suites, runs, cases, problems } = found;
    const files = found.files.map(({ name }) => join(output, name));
    if (options.json) {
      const pathsOf = (names: readonly string[]) => names.map((name) => join(output, name));
      terminal.printJson({ status, files, suites: pathsOf(suites), runs: pathsOf(runs), cases, problems });
    } else {
      for (const problem of problems) terminal.printStderr(escapeInvisible(formatProblem(problem)));
      for (const name of files)
        terminal.print(`${own.dryRun ? 'would write' : 'wrote'} ${escapeInvisibleLine(name)}`);
      const made = runs.length > 0 ? formatCount(runs.length, 'run') : formatCount(suites.length, 'suite');
      if (status !== 'none') terminal.print(`${status}: ${made}, ${formatCount(cases, 'case')}`);
      else {
        terminal.printStderr(
          `error: [CONFIG_INVALID] nothing was imported from ${escapeInvisibleLine(file)}`,
        );
        if (!problems.some(({ hint }) => hint !== undefined))
          terminal.printHint({ hint: 'Name the system that the file comes from with --from.' });
      }
    }
    return status === 'whole' ? 0 : 1;
  },
});
