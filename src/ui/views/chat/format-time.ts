const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** `14:05` today, `Nov 23, 14:05` on other days. The time is one of `Date.now()`. */
export function formatTime(atMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date().toDateString();
  return isToday ? TIME.format(atMs) : `${DAY.format(atMs)}, ${TIME.format(atMs)}`;
}
