/** What --help prints. */
export function help(): string {
  return `Usage: signalbox-prompt --prompt TEXT [options]

A hook of Claude Code: asks a model that a runtime file declares about the event on stdin. Exit code 0 and no output let it
go on; exit code 2 blocks it, with the reason on stderr, and so does every failure.

Options, each with its variable in the environment; an option wins:
  --prompt TEXT       SIGNALBOX_PROMPT_PROMPT   what the model is asked; $ARGUMENTS stands for the event, as JSON
  --config FILE       SIGNALBOX_PROMPT_CONFIG   the file that declares the provider (default: runtime.yaml)
                                                several are laid over one another, as --config of signalbox
  --judge ID          SIGNALBOX_PROMPT_JUDGE    the provider (default: judge)
  --timeout MS        SIGNALBOX_PROMPT_TIMEOUT  how long the model may take (default: 25000)
  --help                                        this text

In runtime.yaml, for handlers of \`type: prompt\`:
  imports:
    - {dialect: claude, file: .claude/settings.json, prompt_provider: judge, env: [OPENAI_API_KEY]}

By hand:
  echo '{"hook_event_name": "Stop"}' | signalbox-prompt --prompt 'Are all tasks done? $ARGUMENTS'
`;
}
