import { defineGuard, usageError } from '../program/options.ts';

export const guard = defineGuard({
  program: 'signalbox-prompt',
  usage: '--prompt TEXT [options]',
  about: `A hook of Claude Code: sends the event from stdin to a model that a runtime file declares. Exit code 0 without output
allows the event. Exit code 2 blocks it, with the reason on stderr; any failure blocks it, too.`,
  columns: [20, 26],
  options: {
    prompt: ['text', 'TEXT', 'the prompt for the model; $ARGUMENTS stands for the event, as JSON'],
    config: [
      'lines',
      'FILE',
      'the file that declares the provider (default: runtime.yaml)\nseveral files are merged, as --config of signalbox',
    ],
    judge: ['text', 'ID', 'the provider (default: judge)'],
    timeout: ['text', 'MS', 'time limit of the model in milliseconds (default: 25000)'],
    help: ['flag', '', 'show this help'],
  },
  notes: () => `In runtime.yaml, for handlers of \`type: prompt\`:
  imports:
    - {dialect: claude, file: .claude/settings.json, prompt_provider: judge, env: [OPENAI_API_KEY]}

By hand:
  echo '{"hook_event_name": "Stop"}' | signalbox-prompt --prompt 'Are all tasks done? $ARGUMENTS'
`,
  read: (options, host) => {
    const prompt = options.text('prompt') ?? '';
    if (prompt.trim() === '') throw usageError('there is no prompt', 'Give --prompt.');
    const timeout = options.text('timeout') ?? '25000';
    if (!/^[1-9]\d{0,8}$/.test(timeout)) {
      throw usageError(
        `--timeout ${timeout} is not a number of milliseconds`,
        'Give a whole number, such as 25000.',
      );
    }
    const config = options.list('config');
    const provider = options.text('judge') ?? 'judge';
    host.openJudge(config, provider);
    return { prompt, config, provider, timeoutMs: Number(timeout) };
  },
});
