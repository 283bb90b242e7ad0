/** Formats a local time as Python's `strftime` does in the C locale. Unknown directives are left as they are. */
export function formatDate(date: Date, format: string): string {
  return format.replaceAll(/%[\w%]/g, (directive) => DIRECTIVES[directive]?.(date) ?? directive);
}

const DIRECTIVES: Readonly<Record<string, (date: Date) => string>> = {
  '%a': inEnglish({ weekday: 'short' }),
  '%A': inEnglish({ weekday: 'long' }),
  '%b': inEnglish({ month: 'short' }),
  '%B': inEnglish({ month: 'long' }),
  '%d': (date) => twoDigits(date.getDate()),
  '%H': (date) => twoDigits(date.getHours()),
  '%m': (date) => twoDigits(date.getMonth() + 1),
  '%M': (date) => twoDigits(date.getMinutes()),
  '%S': (date) => twoDigits(date.getSeconds()),
  '%Y': (date) => String(date.getFullYear()),
  '%y': (date) => twoDigits(date.getFullYear() % 100),
  '%p': (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  '%%': () => '%',
};

function inEnglish(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  const format = new Intl.DateTimeFormat('en-US', options);
  return (date) => format.format(date);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
