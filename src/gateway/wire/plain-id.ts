/** Whether the text is a name or id such as APIs give, which hooks need not be shown. */
export function isPlainId(text: string): boolean {
  return plainId.test(text);
}

const plainId = /^[A-Za-z0-9_.:|/+=-]{1,256}$/;
