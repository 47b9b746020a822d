(() => {
  const query = document.getElementById('query');
  const shown = document.getElementById('shown');
  const cards = [...document.querySelectorAll('article')];
  const search = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const card of cards) {
      card.hidden = !words.every(word => card.dataset.text.includes(word));
      if (!card.hidden) ++left;
    }
    shown.textContent = words.length ? left + ' of ' + cards.length + ' fit' : '';
  };
  document.getElementById('search').hidden = false;
  query.addEventListener('input', search);
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target === query) return;
    query.focus();
    event.preventDefault();
  });
  search();
})();
