import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { command, group } from '../command.ts';
import { commandName } from '../next-command.ts';

export const initCommand = command('init [folder]', {
  about: 'write a working project: runtime.yaml with a tool, an eval, a PII filter and a model',
  options: {
    '--lang <language>': [
      'the language of the scripts',
      { choices: ['python', 'node', 'go', 'sh'], default: 'python' },
    ],
    '--helper': 'write or update only the helper for scripts in that language',
  },
  examples: `
Examples:
  signalbox init
  signalbox init my-guards
  signalbox init my-guards --lang node
  signalbox init scripts --helper --lang sh

Existing files are never overwritten, except an older copy of the helper with --helper.

More: docs/reference/author-helpers.md`,
  run: async ({ invocation }, { lang, helper }, folder = '.') => {
    const { writeHelper, writeTemplate } = await import('../../runtime/runtime.ts');
    if (helper === true) {
      const files = [writeHelper(folder, lang)];
      return { document: { folder, files }, text: `wrote ${files[0]}` };
    }
    const files = writeTemplate(folder, lang);
    const name = commandName(invocation.env);
    const steps = ['validate', 'tool list', 'eval run quickstart.suite.yaml', 'serve'];
    const text = [
      ...files.map((file) => `wrote ${file}`),
      '\nTry:',
      ...(folder === '.' ? [] : [`  cd ${folder}`]),
      ...(lang === 'go' ? ['  go build -o bin/ ./...'] : []),
      ...steps.map((step) => `  ${name} ${step}`),
    ].join('\n');
    return { document: { folder, files }, text };
  },
});

export const validateCommand = command('validate [paths...]', {
  about: 'check configs, suites and pipelines, or all of a folder, and show every problem at once',
  options: {
    '--no-programs': 'do not look for programs and scripts, which another machine has',
    '--strict': 'treat warnings as errors',
    '--values': 'also show where each value of the config comes from, but not the value',
  },
  examples: `
Examples:
  signalbox validate
  signalbox validate runtime.yaml support.suite.yaml
  signalbox validate suites/
  signalbox validate --no-programs
  signalbox validate --strict
  signalbox validate --config runtime.yaml --config production.yaml --values
  signalbox validate --json | jq '.problems[] | select(.severity == "error")'

More: docs/reference/config.md, docs/guides/check-a-config.md

Exit codes: 0 no errors (warnings are shown), 2 errors, or warnings with --strict.`,
  run: async ({ invocation, options, isConfigGiven }, { programs, strict, values }, given) => {
    const { formatProblem, loadChecker, loadValues } = await import('../../runtime/runtime.ts');
    const { findCheckable, validateFile } = await loadChecker();
    const isConfigMeant = given.length === 0 && (isConfigGiven || values === true);
    const overlays = isConfigMeant ? options.overlays : [];
    const read = { env: invocation.env, overlays, ignoresPrograms: !programs };
    const files = isConfigMeant ? [options.config] : await findCheckable(given, options.config);
    const all: Awaited<ReturnType<typeof validateFile>>[number][] = [];
    for (const file of files) all.push(...(await validateFile(file, options.config, read)));
    // Skips runtime errors that the check of that runtime reports too.
    const isTold = ({ about, hint }: (typeof all)[number]) =>
      about === 'runtime' && files.some((file) => hint?.includes(`validate ${file}\``) === true);
    // Reports the problems of a pipeline once, even if several configs use it.
    const told = all.filter((problem) => !isTold(problem));
    const once = [...new Map(told.map((problem) => [JSON.stringify(problem), problem])).values()];
    const problems = once.map((problem) =>
      strict && problem.severity === 'warning' ? { ...problem, severity: 'error' as const } : problem,
    );
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    const warnings = problems.filter(({ severity }) => severity === 'warning').length;
    const origins = values ? (await loadValues()).listValues(files[0] ?? '', read) : undefined;
    const lines = [
      ...(origins ?? []).map(({ path, file, line, column, variables }) =>
        [path, `${file}:${line}:${column}`, ...variables].join('  '),
      ),
      ...problems.map(formatProblem),
    ];
    const counts = `${formatCount(files.length, 'file')}: ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}`;
    return {
      document: { valid: errors === 0, files: files.length, errors, warnings, problems, values: origins },
      text: lines.length === 0 ? undefined : escapeInvisible(lines.join('\n')),
      note: errors === 0 ? counts : `[CONFIG_INVALID] ${counts}`,
      exitCode: errors === 0 ? 0 : 2,
    };
  },
});

const providerExamples = `
Examples:
  signalbox provider list
  signalbox provider list --json | jq '.providers[].model'`;

export const providerCommands = group('provider', {
  alias: 'providers',
  about: 'list the providers of models',
  examples: providerExamples,
  commands: [
    command('list', {
      about: 'show the declared providers',
      examples: providerExamples,
      run: async ({ open }) => {
        const providers = (await open()).providers.list();
        const rows = providers.map(({ id, type, model }) => [id, type, model]);
        return { document: { providers }, table: { names: ['provider', 'type', 'model'], rows } };
      },
    }),
  ],
});

export const cacheCommands = group('cache', {
  about: 'manage the answers of models that `eval run --cache` stores',
  examples: '\nExamples:\n  signalbox cache clear\n  signalbox cache clear /var/cache/answers',
  commands: [
    command('clear [folder]', {
      about: 'remove stored answers of models',
      examples: `
Without a folder, this command removes the answers in the state folder of --config. It removes no other files of the
folder. \`eval prune\` removes stored answers of subjects.

Examples:
  signalbox cache clear
  signalbox cache clear /var/cache/answers --json

Exit codes: 0 done, 2 wrong call or config, or a folder that cannot be read or written.`,
      run: async ({ open }, _flags, folder) => {
        const cleared = await (await open()).evals.clearCache(folder);
        const text = `${formatCount(cleared.removed, 'answer')} removed from ${cleared.folder}`;
        return { document: cleared, text };
      },
    }),
  ],
});

export const completionCommand = command('completion <shell>', {
  about: 'print a script that lets a shell complete commands and options',
  choices: { about: 'whose', of: ['bash', 'zsh', 'fish'] },
  examples: `
Completion starts no process. After an option that takes a file, and where no word fits, it completes names of files.

Examples:
  eval "$(signalbox completion bash)"          in ~/.bashrc
  eval "$(signalbox completion zsh)"           in ~/.zshrc
  signalbox completion fish | source           in ~/.config/fish/config.fish`,
  run: async ({ openWhole }, _flags, shell) => {
    const { writeCompletion } = await import('../completion.ts');
    const script = writeCompletion(shell, openWhole());
    return { document: { shell, script }, text: script.trimEnd() };
  },
});
