import { Pool } from 'undici';
import { type Contender, defineWay, spread } from '../run/line.ts';
import { cpuSecondsOf } from '../run/process-usage.ts';
import { startGateway, startUpstream } from './served.ts';

export interface GatewayCall {
  readonly atOnce: number;
  /** Config keys in addition to the provider. Without it, the upstream is called directly. */
  readonly spec?: object;
  /** Default: 1. */
  readonly processes?: number;
  /** The value is the CPU time of the gateway for a call, with all its processes, in milliseconds. */
  readonly isOfCpu?: boolean;
}

/** Chat completions from a server on loopback, called directly or through `signalbox serve`. */
export const gatewayCall = defineWay<GatewayCall>(import.meta.url);

export async function open({ atOnce, spec, processes = 1, isOfCpu }: GatewayCall): Promise<Contender> {
  const direct = await startUpstream();
  const served = spec && (await startGateway(direct.url, spec, processes));
  const { url } = served ?? direct;
  const pool = new Pool(url, { connections: atOnce });
  const call = async () => {
    const { statusCode, body } = await pool.request({
      ...{ path: '/v1/chat/completions', method: 'POST', body: request },
      headers: { 'content-type': 'application/json' },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(text);
  };
  return {
    run: async (count) => {
      const pid = served?.pid;
      const before = pid === undefined ? 0 : cpuSecondsOf(pid);
      await spread(count, atOnce, call);
      if (pid === undefined) return undefined;
      const childCpuSeconds = cpuSecondsOf(pid) - before;
      return { childCpuSeconds, ...(isOfCpu && { value: (childCpuSeconds / count) * 1_000 }) };
    },
    close: async () => {
      await pool.close();
      await served?.stop();
      await direct.stop();
    },
  };
}

const messages = [
  { role: 'system', content: 'You are helpful.' },
  { role: 'user', content: 'Hello there, how are you today? '.repeat(20) },
];
const request = JSON.stringify({ model: 'm', messages, temperature: 0.5 });
