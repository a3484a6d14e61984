import { toShellLine } from '../../base/files/shell-line.ts';
import { socketPlace } from '../../base/files/socket-place.ts';
import { versionOf } from '../../base/version.ts';
import type { Invocation } from '../invocation.ts';

interface LineOptions {
  readonly dialect: string;
  /** Absolute paths: the config and its overlays. */
  readonly files: readonly string[];
  /** In whole seconds, such as `590s`. */
  readonly within: string;
  /** Whether exit code 1 of the command is an answer. */
  readonly mayReport: boolean;
  readonly env: Invocation['env'];
}

/** Of each request: `--next` resets the options. */
const curl = `-sf --http1.0 --noproxy '*' --unix-socket "$s"`;

/**
 * A shell line that asks the resident of these files with curl, first for a sign of life, and runs the command if that
 * fails in any way. It exits with 2, which denies, if the command fails too. The environment goes through a pipe, so no
 * process list shows it. The event is kept as base64, since variables of a shell lose null characters.
 */
export function residentLine(
  words: readonly string[],
  { dialect, files, within, mayReport, env }: LineOptions,
): string {
  const { folder, socket } = socketPlace(files, env);
  const [version, listed, place, path] = [versionOf(), files.join('\n'), folder, socket].map((text) =>
    toShellLine([text]),
  );
  const seconds = Number.parseInt(within, 10);
  return [
    `e=$(base64)||exit 2;t=$(date +%s);d=${place};s=${path};z=$(printf '\\004');n='`,
    `';if [ -O "$d" ]&&[ -O "$s" ]&&[ -S "$s" ]&&case $(ls -ld "$d") in drwx------*);;*)false;;esac`,
    `&&r=$({ printf '%s\\0' ${version} "$(pwd -P)" ${listed} '' ${within};env -0;printf '\\0%s' "$e";}`,
    `|curl -q --fail-early ${curl} -m1 -o /dev/null -d '' http://signalbox/version --next ${curl} -Y2 -y1 -m${seconds} -H Expect: --data-binary @- http://signalbox/hook/${dialect})`,
    `;then r=\${r#"\${r%%[!$n]*}"};case $r in [012]"$n"*"$n"*"$z")c=\${r%%"$n"*};r=\${r#*"$n"};o=\${r%%"$n"*};r=\${r#*"$n"}`,
    `;[ -z "$o" ]||printf '%s\\n' "$o"||exit 2;printf %s "\${r%"$z"}">&2;exit $c;;esac;fi`,
    `;w=$((${seconds}-$(date +%s)+t));[ $w -gt 0 ]||w=1`,
    `;printf %s "$e"|{ base64 -d||base64 -D;} 2>/dev/null|${toShellLine(words)} --answer-within "$w"s;c=$?`,
    `;case $c in ${mayReport ? '[012]' : '[02]'})exit $c;;*)exit 2;;esac`,
  ]
    .join('')
    .replace("n=''", "n='\n'");
}
