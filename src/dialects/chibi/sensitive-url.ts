import { BlockList, isIP } from 'node:net';

/**
 * Why a URL is sensitive, in chibi's words; undefined when it is not. The host is judged as it is written, never
 * looked up. Source: docs/hooks.md, pre_fetch_url.
 */
export function sensitivityOf(url: string): string | undefined {
  const host = hostOf(url);
  if (host === undefined) return 'could not parse URL';
  if (host === 'localhost' || host.endsWith('.localhost')) return ranges.loopback.reason;
  const version = isIP(host);
  if (version === 0) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return Object.values(ranges).find(({ block }) => block().check(host, family))?.reason;
}

/** Without brackets and the dot at its end; undefined where no host stands. */
function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === '' ? undefined : host.toLowerCase();
}

/** The first that has the address counts. 0.0.0.0 reaches the machine itself. */
const ranges = {
  metadata: range('cloud metadata endpoint', ['169.254.169.254/32']),
  loopback: range('loopback address', ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128']),
  linkLocal: range('link-local address', ['169.254.0.0/16', 'fe80::/10']),
  private: range('private network address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']),
};

/** The list is made for the first URL: every command would wait for it. */
function range(reason: string, networks: readonly string[]) {
  let made: BlockList | undefined;
  const block = () => {
    made ??= blockListOf(networks);
    return made;
  };
  return { reason, block };
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix = ''] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
