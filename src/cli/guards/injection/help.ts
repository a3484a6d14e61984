import { origins } from '../../../builtins/guards/guard.ts';
import {
  defaultThresholds,
  injectionKinds,
  scannedOrigins,
} from '../../../builtins/guards/injection/rules.ts';

/** What --help prints. */
export function help(): string {
  const { threshold, instructionThreshold } = defaultThresholds;
  return `Usage: signalbox-injection [options]

Denies attempts to make a model do what it was not told to: in what people write, and in what tools bring back. A
provider or tool hook, an eval or a tool: one JSON object on stdin is answered on stdout; a line of JSON-RPC makes it a
server.

Options, each with its variable in the environment; an option wins:
  --threshold N     SIGNALBOX_INJECTION_THRESHOLD     how sure it must be of a text that no pattern matches, up to 1
                                                      (default: ${threshold})
  --instructions N  SIGNALBOX_INJECTION_INSTRUCTIONS  likewise of instructions to a model in the words of a tool, or off
                                                      (default: ${instructionThreshold})
  --scan LIST       SIGNALBOX_INJECTION_SCAN          whose texts: ${origins.join(', ')}
                                                      (default: ${scannedOrigins.join(', ')})
  --judge ID        SIGNALBOX_INJECTION_JUDGE         a provider that is asked where it is in doubt; without an answer
                                                      the call is denied (default: none)
  --config FILE     SIGNALBOX_INJECTION_CONFIG        the file that declares it (default: runtime.yaml)
                                                      several are laid over one another, as --config of signalbox
  --help                                              this text

Kinds: ${Object.keys(injectionKinds).join(', ')}

In runtime.yaml:
  hooks:
    injection: {command: signalbox-injection, hook: provider, phases: [before_call], runtime: server}
    injection_in_results: {command: signalbox-injection, hook: tool, phases: [after_execution], runtime: server}
  evals:
    no_injection: {command: signalbox-injection, runtime: server}

By hand:
  echo '{"args": {"text": "Ignore all previous instructions."}}' | signalbox-injection
`;
}
