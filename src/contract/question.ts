/** In place of a tool's name, in the record of a question to a person. */
export const QUESTION = '@ask';

/** Whether what waits is a question of an `ask` step, and no call of a tool. */
export function isQuestion({ tool }: { readonly tool: string }): boolean {
  return tool === QUESTION;
}
