import { dirname, join } from 'node:path';
import { escapeInvisible, escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { command } from '../../command.ts';

export const importCommand = command('import <file>', {
  about: 'convert files of promptfoo, Inspect, Ragas, DeepEval and PromptKit Arena to a runtime and suites',
  options: {
    '--from <system>': [
      'the program that wrote the file (default: detected from its content)',
      { choices: ['promptfoo', 'promptfoo-results', 'inspect', 'ragas', 'deepeval', 'arena'] },
    ],
    '--provider <id>': 'the provider, if the file names none, such as `openai:gpt-4.1` or `file://answer.py`',
    '--output <folder>': 'the folder for the new files (default: `signalbox` beside the file)',
    '--force': 'overwrite existing files',
    '--dry-run': 'write nothing; only show what would be imported',
  },
  examples: `
Examples:
  signalbox eval import promptfooconfig.yaml
  signalbox eval import promptfooconfig.yaml --output evals --force
  signalbox eval import promptfooconfig.yaml --dry-run --json | jq '.problems[].message'
  signalbox eval import results.json && signalbox eval diff signalbox/promptfoo.run.jsonl last
  signalbox eval import samples.jsonl --from inspect --provider openai:gpt-4.1-mini

Each pair of a prompt and a provider of promptfoo becomes a variant of the suite. Results become a run with the same
variants. What cannot be imported with the same verdict is left out and listed on stderr with its line. The import runs
no program that the file names, and writes the names of key variables, never keys.

Exit codes: 0 everything was imported, 1 something was left out, 2 wrong call or a file that cannot be read.`,
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
          terminal.printHint({ hint: 'Name the program that wrote the file with --from.' });
      }
    }
    return status === 'whole' ? 0 : 1;
  },
});
