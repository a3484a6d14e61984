import { origins } from '../../../builtins/guards/guard.ts';
import { scannedOrigins } from '../../../builtins/guards/topics/rules.ts';

/** What --help prints. */
export function help(): string {
  return `Usage: signalbox-topics --deny-topic TOPIC… | --allow-topic TOPIC… [options]

Denies what is not about allowed topics, as a model judges that a runtime file declares. A provider or tool hook, an eval
or a tool: one JSON object on stdin is answered on stdout; a line of JSON-RPC makes it a server. No answer denies.

Options, each with its variable in the environment; an option wins:
  --deny-topic TEXT   SIGNALBOX_TOPICS_DENY_TOPIC   what must not be talked about; may be repeated
  --allow-topic TEXT  SIGNALBOX_TOPICS_ALLOW_TOPIC  what may be, and nothing else; may be repeated
  --config FILE       SIGNALBOX_TOPICS_CONFIG       the file that declares the provider (default: runtime.yaml)
                                                    several are laid over one another, as --config of signalbox
  --judge ID          SIGNALBOX_TOPICS_JUDGE        the provider (default: judge)
  --threshold N       SIGNALBOX_TOPICS_THRESHOLD    the least score that passes, up to 1 (default: 0.5)
  --timeout MS        SIGNALBOX_TOPICS_TIMEOUT      for each question (default: 8000)
  --scan LIST         SIGNALBOX_TOPICS_SCAN         whose texts: ${origins.join(', ')}
                                                    (default: ${scannedOrigins.join(', ')})
  --help                                            this text

In runtime.yaml:
  hooks:
    topics:
      {command: signalbox-topics, args: [--deny-topic, politics], hook: provider, runtime: server, env: [OPENAI_API_KEY]}

By hand:
  echo '{"args": {"text": "Who will win the election?"}}' | signalbox-topics --deny-topic politics
`;
}
