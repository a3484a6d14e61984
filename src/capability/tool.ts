import { failed, type ToolCall, type ToolOutcome } from '../contract/tool.ts';
import { toFault } from '../errors.ts';
import { announce, type Invocation, invoke, type Port } from './invoke.ts';

/** Runs a tool's process once. A fault of any kind is a failed outcome; never rejects. */
export async function runTool(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
): Promise<ToolOutcome> {
  const finished = announce(port.emit, 'tool', { name: port.binding.name, call: invocation.call });
  const outcome = await ask(port, invocation);
  finished({ status: outcome.status, error: outcome.status === 'failed' ? outcome.error : undefined });
  return outcome;
}

async function ask(
  port: Port<ToolCall, ToolOutcome>,
  invocation: Invocation<ToolCall>,
): Promise<ToolOutcome> {
  try {
    return await invoke(port, invocation);
  } catch (error) {
    return failed(toFault(error));
  }
}
