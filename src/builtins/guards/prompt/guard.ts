import { defineGuard, usageError } from '../program/options.ts';

export const guard = defineGuard({
  program: 'signalbox-prompt',
  usage: '--prompt TEXT [options]',
  about: `A hook of Claude Code: asks a model that a runtime file declares about the event on stdin. Exit code 0 and no output let it
go on; exit code 2 blocks it, with the reason on stderr, and so does every failure.`,
  columns: [20, 26],
  options: {
    prompt: ['text', 'TEXT', 'what the model is asked; $ARGUMENTS stands for the event, as JSON'],
    config: [
      'lines',
      'FILE',
      'the file that declares the provider (default: runtime.yaml)\nseveral are laid over one another, as --config of signalbox',
    ],
    judge: ['text', 'ID', 'the provider (default: judge)'],
    timeout: ['text', 'MS', 'how long the model may take (default: 25000)'],
    help: ['flag', '', 'this text'],
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
        `--timeout ${timeout} is no number of milliseconds`,
        'Give a whole number, 25000 say.',
      );
    }
    const config = options.list('config');
    const provider = options.text('judge') ?? 'judge';
    host.openJudge(config, provider);
    return { prompt, config, provider, timeoutMs: Number(timeout) };
  },
});
