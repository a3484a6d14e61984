import { origins } from '../../../builtins/guards/guard.ts';
import { secretActions, secretKindNames } from '../../../builtins/guards/secrets/rules.ts';

/** What --help prints. */
export function help(): string {
  return `Usage: signalbox-secrets [options]

Finds keys, tokens and passwords in what goes to a model, comes back, or passes a tool, and takes them out. A provider or
tool hook, an eval or a tool: one JSON object on stdin is answered on stdout; a line of JSON-RPC makes it a server.

Options, each with its variable in the environment; an option wins:
  --kinds LIST      SIGNALBOX_SECRETS_KINDS     what is looked for (default: all)
  --action LIST     SIGNALBOX_SECRETS_ACTION    ${secretActions.join(', ')};
                                                for one kind: HIGH_ENTROPY=block (default: redact)
  --allow VALUE     SIGNALBOX_SECRETS_ALLOW     a value, or a /pattern/ for whole values, that may pass; may be
                                                repeated, in the variable one on each line
  --scan LIST       SIGNALBOX_SECRETS_SCAN      whose texts: ${origins.join(', ')} (default: all)
  --key-file FILE   SIGNALBOX_SECRETS_KEY_FILE  file with the key of hashes, made when it is missing
                    SIGNALBOX_SECRETS_KEY       the key itself; without one each process has its own
  --help                                        this text

Kinds: ${secretKindNames.join(', ')}

In runtime.yaml:
  hooks:
    secrets: {command: signalbox-secrets, args: [--action, block], hook: provider, runtime: server}
  evals:
    no_secrets: {command: signalbox-secrets, runtime: server}

By hand:
  echo '{"args": {"text": "token ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}' | signalbox-secrets
`;
}
