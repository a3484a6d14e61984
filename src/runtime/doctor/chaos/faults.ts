import type { Utterance } from '../../../dialects/foreign-dialect.ts';

/** How a hook is reached: the kind of program that fails in its place. */
export type HookForm = 'oneshot' | 'server' | 'http';

/** One way to fail, for each form of hook that can fail so. */
export interface Fault {
  readonly name: string;
  /** Completes “the hook …”. */
  readonly title: string;
  /** What the program says, if that is no failure in every system. */
  readonly says?: Utterance;
  /** Lines for sh, once the request can be read. */
  readonly oneshot?: string;
  /** Lines for sh, for each request: `$id` is its id, `$1` what consents. */
  readonly server?: string;
  /** What an endpoint does with the request; `refuse`: nobody listens. */
  readonly http?:
    | ('hang' | 'junk' | 'nothing' | 'half' | 'flood' | 'hang up' | 'cut')
    | ('status 500' | 'status 202' | 'redirect' | 'html' | 'refuse');
  /** Only a native hook fails so; elsewhere it may be an answer. */
  readonly isNativeOnly?: true;
  /** The program is a file that is not there, or that goes after it has consented once. */
  readonly file?: 'missing' | 'deleted';
  /** The server does not answer the first exchange. */
  readonly isUngreeted?: true;
  /** The forms in which nobody learns of the fault but by waiting. */
  readonly isSilentFor?: readonly HookForm[];
}

const hang = 'PATH=$PATH:/bin:/usr/bin; exec sleep 600';
const block = 's=0123456789abcdef; s=$s$s$s$s; s=$s$s$s$s; s=$s$s$s$s; s=$s$s$s$s';

const endings = [1, 2, 126, 127].map(
  (code): Fault => ({
    ...{ name: `exit_${code}`, title: `exits with code ${code}` },
    ...{ oneshot: `exit ${code}`, server: `exit ${code}` },
    ...(code === 2 && { says: 'exit 2' }),
  }),
);

/** Every fault, in the order of the table. */
export const faults: readonly Fault[] = [
  {
    ...{ name: 'timeout', title: 'gives no answer in time' },
    ...{ oneshot: hang, server: hang, http: 'hang', isSilentFor: ['oneshot', 'server', 'http'] },
  },
  ...['SEGV', 'KILL'].map((signal) => ({
    ...{ name: `sig${signal.toLowerCase()}`, title: `is ended by SIG${signal} while it is asked` },
    ...{ oneshot: `kill -${signal} $$`, server: `kill -${signal} $$` },
  })),
  ...endings,
  {
    ...{ name: 'junk', title: 'prints what is no answer', says: 'text' },
    ...{ oneshot: 'echo not an answer', server: 'echo not an answer', http: 'junk', isSilentFor: ['server'] },
  },
  {
    ...{ name: 'nothing', title: 'ends well and prints nothing', says: 'silence' },
    ...{ oneshot: ':', server: 'exit 0', http: 'nothing' },
  },
  {
    ...{ name: 'half_answer', title: 'ends well in the middle of its answer' },
    ...{
      oneshot: 'printf \'{"allow": tr\'',
      server: 'printf \'{"jsonrpc": "2.0", "id": %s, "resu\' "$id"; exit 0',
      http: 'half',
    },
  },
  {
    ...{ name: 'flood_stdout', title: 'prints without end' },
    ...{ oneshot: `${block}; while :; do printf %s "$s"; done`, http: 'flood' },
    server: `${block}; while :; do printf %s "$s"; done`,
  },
  {
    ...{ name: 'flood_stderr', title: 'writes 1 MiB to stderr and exits with code 1' },
    oneshot: `${block}; n=0; while [ $n -lt 256 ]; do printf %s "$s" >&2; n=$((n + 1)); done; exit 1`,
    server: `${block}; n=0; while [ $n -lt 256 ]; do printf %s "$s" >&2; n=$((n + 1)); done; exit 1`,
  },
  { name: 'missing', title: 'is a command that does not exist', file: 'missing', http: 'refuse' },
  { name: 'deleted', title: 'is deleted between two calls', file: 'deleted' },
  {
    ...{ name: 'wrong_id', title: 'answers another request', isSilentFor: ['server'] },
    server: 'printf \'{"jsonrpc": "2.0", "id": 987654321, "result": %s}\\n\' "$1"',
  },
  { name: 'no_greeting', title: 'does not answer the greeting', isUngreeted: true, isSilentFor: ['server'] },
  { name: 'hang_up', title: 'closes the connection', http: 'hang up' },
  { name: 'status_500', title: 'answers with status 500', http: 'status 500' },
  { name: 'redirect', title: 'answers with a redirect', http: 'redirect' },
  { name: 'cut_off', title: 'closes the connection in the middle of its answer', http: 'cut' },
  { name: 'status_202', title: 'lets pass with status 202', http: 'status 202', isNativeOnly: true },
  { name: 'html', title: 'lets pass with a body that says it is HTML', http: 'html', isNativeOnly: true },
];

/** The faults that a hook of that form can have; `isGreeted`: its server has a first exchange. */
export function faultsOf(
  form: HookForm,
  { isGreeted, isNative }: { readonly isGreeted: boolean; readonly isNative: boolean },
): readonly Fault[] {
  return faults.filter((fault) => {
    if (fault.isNativeOnly === true && !isNative) return false;
    if (fault.isUngreeted === true) return isGreeted;
    return fault[form] !== undefined || (fault.file !== undefined && form !== 'http');
  });
}
