/** Hands a file to the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function saveJson(name: string, value: unknown): void {
  saveFile(name, new Blob([JSON.stringify(value, undefined, 2)], { type: 'application/json' }));
}

export function saveCsv(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: 'text/csv' }));
}
