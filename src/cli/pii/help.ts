import { actions } from '../../builtins/pii/action.ts';
import { defaultEntities, entityNames } from '../../builtins/pii/entity.ts';
import { scanPlaces } from '../../builtins/pii/settings.ts';

/** What --help prints. */
export function help(): string {
  const optional = entityNames.filter((name) => !defaultEntities.includes(name));
  return `Usage: signalbox-pii [options]

Filters personal data and secrets out of provider and tool hooks: one JSON object on stdin is answered on
stdout; a line of JSON-RPC makes it a server (runtime: server).

Options, each with its variable in the environment; an option wins:
  --entities LIST     SIGNALBOX_PII_ENTITIES   what is looked for (default: default)
  --action LIST       SIGNALBOX_PII_ACTION     ${actions.join(', ')};
                                               for one entity: EMAIL_ADDRESS=mask (default: redact)
  --region LIST       SIGNALBOX_PII_REGION     countries whose phone numbers need no country code (default: those
                                               that the script of a text suggests)
  --pattern JSON      SIGNALBOX_PII_PATTERNS   a kind of your own: {"name", "pattern", "context", "checksum"}; may be
                                               repeated, in the variable a list (spec.pii.patterns sets it)
  --scan LIST         SIGNALBOX_PII_SCAN       what is looked at: ${scanPlaces.join(', ')}
                                               (default: all)
  --allow VALUE       SIGNALBOX_PII_ALLOW      a value, or a /pattern/ for whole values, that may pass; may be
                                               repeated, in the variable one on each line
  --restore LIST      SIGNALBOX_PII_RESTORE    where pseudonyms become values again: answer, args, none
                                               (default: answer,args)
  --help                                       this text
  --key-file FILE     SIGNALBOX_PII_KEY_FILE   file with the key of hashes and marks, made when it is missing
                      SIGNALBOX_PII_KEY        the key itself; without one each process has its own

Entities:
  default  ${wrap(defaultEntities)}
  all      those and ${wrap(optional)}

In runtime.yaml:
  hooks:
    pii: {command: signalbox-pii, args: [--action, 'redact,CREDIT_CARD=block'], hook: provider, runtime: server}
`;
}

function wrap(names: readonly string[]): string {
  const lines: string[] = [''];
  for (const name of names) {
    const line = lines.at(-1) ?? '';
    if (line.length + name.length > 90) lines.push(name);
    else lines[lines.length - 1] = line === '' ? name : `${line}, ${name}`;
  }
  return lines.join(',\n           ');
}
