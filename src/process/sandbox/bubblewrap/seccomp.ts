import { endianness } from 'node:os';

/** How the kernel names an architecture, and the numbers of its calls. Source: <linux/audit.h>, and the tables of syscalls. */
interface Abi {
  readonly audit: number;
  /** add_key, request_key, keyctl. */
  readonly calls: readonly number[];
}

const generic = [217, 218, 219] as const;
const x86_64: Abi = { audit: 0xc000003e, calls: [248, 249, 250, ...x32([248, 249, 250])] };
const i386: Abi = { audit: 0x40000003, calls: [286, 287, 288] };
const arm: Abi = { audit: 0x40000028, calls: [309, 310, 311] };

/** By Node's name, with those that the same kernel runs as well. */
const abis: Readonly<Record<string, readonly Abi[]>> = {
  x64: [x86_64, i386],
  ia32: [i386, x86_64],
  arm64: [{ audit: 0xc00000b7, calls: generic }, arm],
  arm: [arm],
  riscv64: [{ audit: 0xc00000f3, calls: generic }],
  loong64: [{ audit: 0xc0000102, calls: generic }],
  s390x: [{ audit: 0x80000016, calls: [278, 279, 280] }],
  ppc64: [{ audit: endianness() === 'LE' ? 0xc0000015 : 0x80000015, calls: [269, 270, 271] }],
};

function x32(calls: readonly number[]): number[] {
  return calls.map((call) => call + 0x40000000);
}

/**
 * A program for seccomp that refuses keyrings (EPERM): a process has those of who started it. A call of another architecture than this
 * one's is refused, too. Undefined where the numbers are not known.
 */
export function keyringFilter(architecture: string = process.arch): Buffer | undefined {
  const known = abis[architecture];
  if (known === undefined) return undefined;
  const rules = known.flatMap(({ audit, calls }) => [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    // Not this architecture: on to the next one's rules.
    [IF_EQUAL, 0, calls.length + 3, audit],
    [LOAD, 0, 0, NUMBER_OFFSET],
    ...calls.map((call, index) => [IF_EQUAL, calls.length - index, 0, call]),
    [ANSWER, 0, 0, ALLOW],
    [ANSWER, 0, 0, REFUSE],
  ]);
  return Buffer.concat([...rules, [ANSWER, 0, 0, REFUSE]].map(encode));
}

/** Source: struct sock_filter of <linux/filter.h>, in the byte order of this machine. */
function encode([code = 0, ifTrue = 0, ifFalse = 0, value = 0]: readonly number[]): Buffer {
  const instruction = Buffer.from([0, 0, ifTrue, ifFalse, 0, 0, 0, 0]);
  const isLittle = endianness() === 'LE';
  if (isLittle) instruction.writeUInt16LE(code);
  else instruction.writeUInt16BE(code);
  if (isLittle) instruction.writeUInt32LE(value, 4);
  else instruction.writeUInt32BE(value, 4);
  return instruction;
}

// BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K and BPF_RET | BPF_K of <linux/bpf_common.h>.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const ANSWER = 0x06;
// SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM, of <linux/seccomp.h>; offsets in struct seccomp_data.
const ALLOW = 0x7fff0000;
const REFUSE = 0x00050001;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
