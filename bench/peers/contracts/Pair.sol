// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Two tokens and a constant product, with what a swap of a Uniswap V2 pair does: a lock, packed
/// reserves with a time, a fee of 0.3 %, cumulative prices, balances read back, two events. The
/// caller names the exact input, so that no router is needed.
contract Pair {
    event Swap(address indexed from, uint256 paid, uint256 received, bool forward, address indexed to);
    event Sync(uint112 reserve0, uint112 reserve1);

    IToken public immutable token0;
    IToken public immutable token1;
    uint112 private reserve0;
    uint112 private reserve1;
    uint32 private changedAt;
    uint256 public price0Cumulative;
    uint256 public price1Cumulative;
    uint256 private unlocked = 1;

    constructor(IToken first, IToken second) {
        token0 = first;
        token1 = second;
    }

    modifier lock() {
        require(unlocked == 1, "locked");
        unlocked = 0;
        _;
        unlocked = 1;
    }

    /// Takes what was sent here as the reserves.
    function sync() external lock {
        update(token0.balanceOf(address(this)), token1.balanceOf(address(this)), reserve0, reserve1);
    }

    function swap(uint256 paid, uint256 least, bool forward, address to) external lock {
        require(to != address(token0) && to != address(token1), "to a token");
        uint256 received = exchange(paid, forward, to);
        require(received >= least && received > 0, "too little");
        (uint112 old0, uint112 old1) = (reserve0, reserve1);
        uint256 balance0 = token0.balanceOf(address(this));
        uint256 balance1 = token1.balanceOf(address(this));
        uint256 adjusted0 = balance0 * 1000 - (forward ? paid * 3 : 0);
        uint256 adjusted1 = balance1 * 1000 - (forward ? 0 : paid * 3);
        require(adjusted0 * adjusted1 >= uint256(old0) * old1 * 1000 ** 2, "product");
        update(balance0, balance1, old0, old1);
        emit Swap(msg.sender, paid, received, forward, to);
    }

    function exchange(uint256 paid, bool forward, address to) private returns (uint256 received) {
        (uint256 from, uint256 into) = forward ? (reserve0, reserve1) : (reserve1, reserve0);
        received = paid * 997 * into / (from * 1000 + paid * 997);
        (IToken given, IToken taken) = forward ? (token0, token1) : (token1, token0);
        require(given.transferFrom(msg.sender, address(this), paid), "not paid");
        require(taken.transfer(to, received), "not received");
    }

    function update(uint256 balance0, uint256 balance1, uint112 old0, uint112 old1) private {
        require(balance0 <= type(uint112).max && balance1 <= type(uint112).max, "overflow");
        uint32 now32 = uint32(block.timestamp);
        unchecked {
            uint32 passed = now32 - changedAt;
            if (passed > 0 && old0 != 0 && old1 != 0) {
                price0Cumulative += ((uint256(old1) << 112) / old0) * passed;
                price1Cumulative += ((uint256(old0) << 112) / old1) * passed;
            }
        }
        reserve0 = uint112(balance0);
        reserve1 = uint112(balance1);
        changedAt = now32;
        emit Sync(uint112(balance0), uint112(balance1));
    }
}
