// What a kernel file must not do; check_symbols.py has to find it.
#include <vector>

namespace newfound::avx2 {
int count(int n) { return static_cast<int>(std::vector<int>(static_cast<std::size_t>(n)).size()); }
}  // namespace newfound::avx2
