import { isIPv4, isIPv6 } from 'node:net';
import { trimEndOf } from '../../../base/text/find.ts';
import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore } from '../scanned-text.ts';
import { isTold, tellingWords } from './context.ts';

/**
 * IPv4 and IPv6 addresses except loopback, wildcard and netmask. A short dotted number is as likely a version and needs
 * a word for addresses.
 */
export function* findIpAddresses(scan: ScannedText): Generator<Finding> {
  const { text } = scan;
  for (const { 0: written, index } of text.matchAll(
    /(?:(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\d.])(?<!\d-)|(?<=(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff])ip))\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d|-\d)/giu,
  )) {
    if (!isIPv4(written) || isNobody(written) || !isMachine(written, scan, index)) continue;
    yield { entity: 'IP_ADDRESS', start: index, end: index + written.length, isConfirmed: true };
  }
  for (const { 0: run, index } of text.matchAll(
    /(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}.]|(?:[\da-fA-F:]|^):)[\da-fA-F:][\da-fA-F:.]+/gu,
  )) {
    const lead = /^:(?!:)/.exec(run)?.[0].length ?? 0;
    const written = withoutPunctuation(run.slice(lead));
    if (
      !isAddress(written) ||
      /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}]/u.test(text[index + run.length] ?? '')
    )
      continue;
    const start = index + lead;
    yield { entity: 'IP_ADDRESS', start, end: start + written.length, isConfirmed: true };
  }
}

function withoutPunctuation(run: string): string {
  const text = trimEndOf(run, '.');
  return /(?<!:):$/.test(text.slice(-2)) ? trimEndOf(text.slice(0, -1), '.') : text;
}

/** Excludes 0.0.0.0/8 and 127.0.0.0/8 (RFC 6890). Leading ones before zeros are a netmask or a broadcast. */
function isNobody(written: string): boolean {
  const octets = written.split('.').map(Number);
  const [first = 0] = octets;
  if (first === 0 || first === 127) return true;
  const bits = octets.map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return first >= 128 && /^1+0*$/.test(bits);
}

/** Versions have small numbers and follow a label or a program's name. */
function isMachine(written: string, scan: ScannedText, at: number): boolean {
  const { text, plain } = scan;
  const before = textBefore(plain, at, 24);
  if (versionBefore.test(before)) return false;
  const end = at + written.length;
  if (isNetwork(written, text.slice(end, end + 4))) return false;
  if (/^(?::\d{2,5}|\/\d{1,2})(?!\d)/.test(text.slice(end, end + 7)) || /[@/[]$/.test(before)) return true;
  const isLong = written.length >= 11 || written.split('.').filter((octet) => octet.length === 3).length > 0;
  return isLong || /^(?:10|192|172)\./.test(written) || isTold(scan, at, addressWords, 40);
}

function isNetwork(written: string, behind: string): boolean {
  const bits = Number(/^\/(\d{1,2})(?!\d)/.exec(behind)?.[1] ?? 32);
  const address = written.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return bits < 32 && address % 2 ** (32 - bits) === 0;
}

const versionBefore = new RegExp(
  `${tellingWords('v|ver|version|versión|versione|versão|versie|wersja|release|rev|build|chapter|section|kapitel|abschnitt|chapitre|capítulo|sección|firmware|step|guide|§').source}[ .:n°#]{0,3}$|(?:版本|バージョン|버전|संस्करण|वर्ज़न|第|章|अध्याय|ビルド)[ :.は是]{0,3}$`,
  'iu',
);
const addressWords = tellingWords(
  'ip|ips|ipv4|addr|address(?:es)?|adresse|dirección|host|hosts|server|servidor|serveur|ping|from|desde|depuis|dns|gateway|router|proxy|client|src|dst|remote|peer|login|ssh|curl|node|endpoint|network|netz|zugriff von|地址|服务器|来自|访问|サーバー?|アドレス|から|पता|आईपी|सर्वर',
);

/** Short forms such as `::` or `a::b` are more often code than addresses; `::1` is loopback. */
function isAddress(written: string): boolean {
  if (written.length > 45 || written.length < 3 || written.indexOf(':') === -1) return false;
  return (
    /\d/.test(written) && written.replaceAll(':', '').length >= 4 && isIPv6(written) && !isLoopback(written)
  );
}

function isLoopback(written: string): boolean {
  return /^[0:]*:0{0,3}[01]$/.test(written) || /^[0:]*:(?:ffff:)?(?:127\.|0\.0\.0\.0)/i.test(written);
}
